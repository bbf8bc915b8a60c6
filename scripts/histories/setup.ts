import { WorkflowUpdateFailedError } from '@temporalio/client'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import type { MethodName, ProviderName } from '../../src/domain/methods.ts'
import type { Decision, Say } from '../../src/domain/payment/requests.ts'
import { operatorUpdates } from '../../src/workflows/messages.ts'
import type { TemporalService } from '../test/services/services.ts'
import { startDevServer } from '../test/services/temporal.ts'
import { createPaymentFixture } from './payment-fixture.ts'
import { createWaits } from './waits.ts'

/** A system around a real Temporal server, with the steps of the scenarios. */
export type Setup = Awaited<ReturnType<typeof openSetup>>

export async function openSetup(server?: TemporalService) {
  const { address, namespace } = server ?? (await startDevServer())
  const env = await TestWorkflowEnvironment.createFromExistingServer({ address, namespace })
  let lagMs = 0
  const fixture = await createPaymentFixture(env, { clock: () => Date.now() - lagMs })
  const waits = createWaits(fixture)
  const handle = (id: string) => fixture.client.workflow.getHandle(id)
  const rest: Promise<unknown>[] = []

  async function settle(paymentId: string): Promise<void> {
    await waits.untilRow(paymentId, 'status', 'settling')
    await fixture.settle(paymentId)
  }

  async function decide(paymentId: string, say: Say, more: Pick<Decision, 'outside'> = {}): Promise<void> {
    const { version } = (await fixture.read(paymentId)).payment
    const decision = { operator: 'ada', reason: 'looked at it', version, ...more }
    await handle(paymentId).executeUpdate(operatorUpdates[say], { args: [decision] })
  }

  return {
    fixture,
    ...waits,
    handle,
    settle,

    /** Settles the payout, as on chain, and waits until the run has ended. */
    settled: async (paymentId: string): Promise<void> => {
      await settle(paymentId)
      await handle(paymentId).result()
    },

    /** Sets the clocks of service and partners behind the server's, so that what is due in hours is due in seconds. */
    behind: async <T>(milliseconds: number, work: () => Promise<T>): Promise<T> => {
      lagMs = milliseconds
      try {
        return await work()
      } finally {
        lagMs = 0
      }
    },

    /** Runs the rest of a scenario, which takes minutes, while others are played. */
    later: (work: () => Promise<unknown>): void => {
      const working = work()
      // `theRest` reports the failure; until it is called, this keeps it from being an unhandled rejection.
      working.catch(() => undefined)
      rest.push(working)
    },
    /** Waits for all of these. Throws the failure of any. */
    theRest: () => Promise.all(rest),

    open: async (paymentId: string, provider?: ProviderName, method?: MethodName): Promise<string> => {
      const answer = await fixture.openAttempt(paymentId, provider, method)
      if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
      return answer.attemptId
    },

    decide,

    refused: async (paymentId: string, say: Say): Promise<void> => {
      const isRefused = await decide(paymentId, say).then(
        () => false,
        (error: unknown) => error instanceof WorkflowUpdateFailedError,
      )
      if (!isRefused) throw new Error(`${say} was not refused`)
    },

    inboxAnswers: async (behavior: object | null): Promise<void> => {
      const headers = { 'content-type': 'application/json' }
      await fetch(`${fixture.inboxUrl}/behavior`, { method: 'POST', headers, body: JSON.stringify(behavior) })
    },

    close: async (): Promise<void> => {
      await fixture.close()
      await env.teardown()
    },
  }
}
