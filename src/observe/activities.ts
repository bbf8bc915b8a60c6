import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { isId } from '../domain/ids.ts'
import type { Tracing } from './traces.ts'

/** Each run of an activity is a span of the trace of its payment. */
export function traceActivities(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: (input, next) =>
        tracing.span(
          {
            name: info.activityType,
            kind: 'internal',
            payment: paymentOf(info.workflowExecution?.workflowId, input.args),
            attributes: {
              'temporal.workflow_id': info.workflowExecution?.workflowId ?? '',
              'temporal.attempt': info.attempt,
            },
          },
          () => next(input),
        ),
    },
  })
}

/** The workflow is the payment's, or the first argument names it. */
function paymentOf(workflowId: string | undefined, [first]: readonly unknown[]): string | null {
  const named = typeof first === 'object' && first !== null ? (first as { paymentId?: unknown }).paymentId : first
  return [workflowId, named].find((id): id is string => typeof id === 'string' && isId('payment', id)) ?? null
}
