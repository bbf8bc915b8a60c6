import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import { createProgress } from '../../scripts/setup/progress.mjs'
import { ensureTemporalServer } from '../../scripts/setup/temporal/temporal-server.ts'
import { onFreePort } from '../../scripts/system/ports.ts'
import { supervise } from '../../scripts/system/supervisor.ts'
import { temporalSpec } from '../../scripts/system/temporal.ts'

export type Outcome = { readonly code: number | string; readonly text: string }

type Temporal = Awaited<ReturnType<typeof startTemporal>>

/**
 * A Temporal server for one test file, with its CLI: its workers poll the queues that all workers poll.
 * `dynamicConfig`: settings that override those of `npm start`.
 */
export function useTemporal({ dynamicConfig = [] }: { dynamicConfig?: readonly string[] } = {}): Temporal {
  const temporal = {} as Temporal
  beforeAll(async () => void Object.assign(temporal, await startTemporal(dynamicConfig)), 120_000)
  afterAll(() => temporal.stop?.())
  return temporal
}

async function startTemporal(dynamicConfig: readonly string[]) {
  const server = await ensureTemporalServer(createProgress(process.stderr))
  if (server.kind === 'address') throw new Error('this test needs its own Temporal server: unset TEMPORAL_ADDRESS')
  const folder = mkdtempSync(join(tmpdir(), 'pinrail-temporal-'))
  const files = { databaseFile: join(folder, 'temporal.db'), logFile: join(folder, 'temporal.log') }
  const { child, address } = await onFreePort(async (port) => {
    const spec = temporalSpec({ program: server.path, port, uiPort: null, ...files })
    const args = [...spec.args, ...dynamicConfig.flatMap((setting) => ['--dynamic-config-value', setting])]
    const started = supervise({ ...spec, args }, { log: () => undefined, onPid: () => undefined })
    await started.start()
    return { child: started, address: `127.0.0.1:${port}` }
  })
  const env = { PATH: process.env['PATH'], HOME: folder, TEMPORAL_ADDRESS: address }
  return {
    address,
    /** Runs `temporal …` as an operator types it. */
    cli: (...args: string[]): Promise<Outcome> =>
      new Promise((resolve) =>
        execFile(server.path, args, { env }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : (error.code ?? 'killed'), text: stdout + stderr }),
        ),
      ),
    async stop(): Promise<void> {
      await child.stop(5000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
