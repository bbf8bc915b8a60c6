import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { createBareActivities } from './activities.ts'
import { BARE_QUEUE, READY } from './names.ts'

/** A separate process, so that its CPU time is not the driver's. Its first argument is Temporal's address. */
Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
const [address = ''] = process.argv.slice(2)
const client = new Client({ connection: await Connection.connect({ address }) })
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: BARE_QUEUE,
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities: createBareActivities(client, (id) => process.send?.(id)),
})
process.once('disconnect', () => process.exit(0))
const running = worker.run()
process.send?.(READY)
await running
