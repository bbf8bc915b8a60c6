import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProgress } from '../setup/progress.mjs'
import { ensureTemporalServer } from '../setup/temporal/temporal-server.ts'
import { freePort } from '../system/ports.ts'
import { supervise } from '../system/supervisor.ts'
import { TEMPORAL_NAMESPACE, temporalSpec } from '../system/temporal.ts'

/** Starts a real Temporal server that suggests a new run once a history has this number of events, instead of 4096. */
export async function startBriefServer({ mostEvents }: { mostEvents: number }) {
  const server = await ensureTemporalServer(createProgress(process.stderr))
  if (server.kind === 'address')
    throw new Error('unset TEMPORAL_ADDRESS: this scenario needs a server with another limit')
  const folder = mkdtempSync(join(tmpdir(), 'histories-'))
  const port = await freePort()
  const spec = temporalSpec({
    program: server.path,
    databaseFile: join(folder, 'temporal.db'),
    port,
    uiPort: null,
    logFile: join(folder, 'temporal.log'),
  })
  const limit = ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${mostEvents}`]
  const child = supervise({ ...spec, args: [...spec.args, ...limit] }, { log: () => undefined, onPid: () => undefined })
  await child.start()
  return {
    address: `127.0.0.1:${port}`,
    namespace: TEMPORAL_NAMESPACE,
    async stop(): Promise<void> {
      await child.stop(3000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
