import { TestWorkflowEnvironment } from '@temporalio/testing'
import type { MethodName, ProviderName } from '../../src/domain/methods.ts'
import type { OperatorDecision } from '../../src/domain/payment/requests.ts'
import { operatorUpdates } from '../../src/workflows/messages.ts'
import { startDevServer } from '../test/services/temporal.ts'
import { createPaymentWorld } from './payment-world.ts'
import { waitsOf } from './waits.ts'

/** A shop around the real Temporal server, and the words in which the scenarios are told. */
export type Stage = Awaited<ReturnType<typeof openStage>>

export async function openStage() {
  const { address, namespace } = await startDevServer()
  const env = await TestWorkflowEnvironment.createFromExistingServer({ address, namespace })
  let lagMs = 0
  const world = await createPaymentWorld(env, { clock: () => Date.now() - lagMs })
  const waits = waitsOf(world)
  const handle = (id: string) => world.client.workflow.getHandle(id)
  const rest: Promise<unknown>[] = []

  async function settle(paymentId: string): Promise<void> {
    await waits.untilRow(paymentId, 'status', 'settling')
    await world.settle(paymentId)
  }

  return {
    world,
    ...waits,
    handle,
    settle,

    /** Settled on chain, and its run has ended. */
    settled: async (paymentId: string): Promise<void> => {
      await settle(paymentId)
      await handle(paymentId).result()
    },

    /** The service's and the partners' clocks go behind the server's, so that what is due in hours is due in seconds. */
    behind: async <T>(milliseconds: number, work: () => Promise<T>): Promise<T> => {
      lagMs = milliseconds
      try {
        return await work()
      } finally {
        lagMs = 0
      }
    },

    /** The rest of a scenario takes minutes by itself: others are played meanwhile. */
    later: (work: () => Promise<unknown>): void => {
      const working = work()
      // Its failure is reported by `theRest`, however long that is not called.
      working.catch(() => undefined)
      rest.push(working)
    },
    /** Until all of that has happened; throws what went wrong in it. */
    theRest: () => Promise.all(rest),

    open: async (paymentId: string, provider?: ProviderName, method?: MethodName): Promise<string> => {
      const answer = await world.openAttempt(paymentId, provider, method)
      if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
      return answer.attemptId
    },

    decide: async (workflowId: string, decision: OperatorDecision): Promise<void> => {
      const note = { operator: 'ada', reason: 'looked at it' }
      await handle(workflowId).executeUpdate(operatorUpdates[decision], { args: [note] })
    },

    inboxAnswers: async (behaviour: object | null): Promise<void> => {
      const headers = { 'content-type': 'application/json' }
      await fetch(`${world.inboxUrl}/behaviour`, { method: 'POST', headers, body: JSON.stringify(behaviour) })
    },

    close: async (): Promise<void> => {
      await world.close()
      await env.teardown()
    },
  }
}
