import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker'

/**
 * From version 1.0 on, `patched()` keeps runs of older code alive (CONTRIBUTING.md, Workflows). Until then no workflow
 * uses it, and a toy shows that it works. `before.json` is a run of the toy before its change, `after.json` a run of
 * the toy after it.
 */

const CALL = /\(0,\w+\.patched\)\('waits-twice'\)/
let code: string

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') })
  const logger = new DefaultLogger('ERROR')
  code = (await bundleWorkflowCode({ workflowsPath: join(import.meta.dirname, 'toy.ts'), logger })).code
}, 120_000)

const replay = (name: string, workflowCode: string) =>
  Worker.runReplayHistory(
    { workflowBundle: { code: workflowCode } },
    JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8')),
  )

test.each(['before', 'after'])('code with the patch replays a run from %s the change', async (name) => {
  await replay(name, code)
})

test('code with the change but without the patch refuses a run from before the change', async () => {
  expect(code).toMatch(CALL)
  await expect(replay('before', code.replace(CALL, 'true'))).rejects.toThrow(/Nondeterminism|determinis/i)
})
