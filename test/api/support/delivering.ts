import { NativeConnection, Worker } from '@temporalio/worker'
import { createWebhookDeliveryActivities } from '../../../src/activities/webhooks/webhook-delivery.ts'
import { createWebhookDiagnosisActivities } from '../../../src/activities/webhooks/webhook-diagnosis.ts'
import { createSender } from '../../../src/webhooks/send.ts'
import { bundleWorkflows } from '../../../src/worker/bundle.ts'
import type { TestApi } from './test-api.ts'

/** A worker that makes the deliveries of the API under test, until it is closed. */
export async function startDelivering(
  testApi: TestApi,
  testTargets: readonly string[],
): Promise<{ close(): Promise<void> }> {
  const { db, secretBox, taskQueue, temporal } = testApi
  const sender = createSender({ mode: 'test', testTargets, now: Date.now })
  const deps = { db, secretBox, sender, now: Date.now }
  const connection = await NativeConnection.connect({ address: temporal.address })
  const worker = await Worker.create({
    connection,
    namespace: temporal.namespace,
    taskQueue,
    workflowBundle: await bundleWorkflows(),
    activities: { ...createWebhookDeliveryActivities(deps), ...createWebhookDiagnosisActivities(deps) },
  })
  const running = worker.run()
  return {
    async close() {
      worker.shutdown()
      await running
      sender.close()
      await connection.close()
    },
  }
}
