import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { registerSearchAttributes } from '../../../src/temporal/namespace.ts'
import { ask } from './ask.ts'
import type { TemporalService, TimeSkippingService } from './services.ts'

const HOLD = fileURLToPath(new URL('../../../tools/test-server/hold', import.meta.url))
/**
 * Returns an environment on a time-skipping server of this test file, with the search attributes. All tests of the file
 * share its time, which never goes back: compare with `env.currentTimeMs()`. Call `teardown()` at the end.
 */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const { port } = await ask<TimeSkippingService>(
    `/time-skipping/${process.env['JEST_WORKER_ID'] ?? '1'}/${randomUUID()}`,
  )
  // The SDK wants to start a server and wait five seconds for it, so it gets a program that only waits.
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: HOLD }, port },
  })
  await registerSearchAttributes(environment.connection, environment.namespace ?? 'default')
  return environment
}

/** Returns the run's real server, shared by all tests: use unique workflow ids and task queues. */
export function startDevServer(): Promise<TemporalService> {
  return ask<TemporalService>('/temporal')
}
