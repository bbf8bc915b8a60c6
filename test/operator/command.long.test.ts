import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openDataFolder } from '../../scripts/system/data-folder.ts'
import { DEFAULT_PORTS } from '../../scripts/system/ports.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { useFixture } from '../chain/fixture.ts'
import { workerVariables } from './operations.ts'

/** The command in its own process, as an operator starts it. */

const fixture = useFixture()
const execute = promisify(execFile)

test('the command without the variables of the worker names them', async () => {
  const args = ['--import', 'tsx', 'src/operator/pinrail.ts', 'settlement', 'status']
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] }
  const failed = execute(process.execPath, args, { env })
  await expect(failed).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('DATABASE_URL') })
})

test('preflight opens the keystores that the variables of the process name', async () => {
  const args = ['--import', 'tsx', 'src/operator/pinrail.ts', 'preflight']
  const env = {
    ...LIVE_ENVIRONMENT,
    PATH: process.env['PATH'],
    RELAYER_KEYS: 'keystore:/nowhere',
  }
  const failed = execute(process.execPath, args, { env })
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^RELAYER_KEYS: must open: .*ENOENT/),
  })
})

describe('npm run pinrail', () => {
  const pinrail = (args: readonly string[], variables: Record<string, string>) =>
    execute(process.execPath, ['scripts/pinrail.mjs', ...args], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PINRAIL_DATA: data, ...variables },
    })
  let data = ''
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'pinrail-operator-'))
    const folder = await openDataFolder(data)
    // No server listens at this port: a command that uses this folder's database is refused.
    folder.remember({ ports: { ...DEFAULT_PORTS, postgres: 9 } })
    folder.release()
  })
  afterAll(() => rmSync(data, { recursive: true, force: true }))

  test('npm run pinrail uses the variables of the caller, or those of the system that npm start runs', async () => {
    const worker = workerVariables(fixture)
    await fixture.queue([{}])
    // No worker has run here, which needs a look.
    const shown = { code: 1, stdout: expect.stringMatching(/^No money is moving.*\n[^]*queued +\d payout/) }
    await expect(pinrail(['settlement', 'status'], worker)).rejects.toMatchObject(shown)
    const { DATABASE_URL: _mine, ...others } = worker
    const failed = pinrail(['settlement', 'status'], others)
    await expect(failed).rejects.toMatchObject({ code: 3, stderr: expect.stringContaining('127.0.0.1:9') })
  })

  test('npm run pinrail never guesses which database to migrate', async () => {
    const failed = pinrail(['migrate'], {})
    await expect(failed).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('DATABASE_URL: must be set'),
    })
    expect((await pinrail(['migrate'], { DATABASE_URL: fixture.databaseUrl })).stdout).toContain('newest schema')
  })
})
