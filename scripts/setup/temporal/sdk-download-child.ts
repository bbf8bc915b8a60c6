import { TestWorkflowEnvironment } from '@temporalio/testing'
import { Runtime } from '@temporalio/worker'

/** Arguments: the server, its version, and the folder for the SDK's download. */
const [what, version, downloadDir] = process.argv.slice(2)
if (version === undefined || downloadDir === undefined) throw new Error('three arguments are needed')

// The SDK downloads a server only by starting one.
const executable = { type: 'cached-download', downloadDir, version } as const
const environment =
  what === 'test-server'
    ? await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } })
    : await TestWorkflowEnvironment.createLocal({ server: { executable } })
await environment.teardown()
await Runtime.instance().shutdown()
