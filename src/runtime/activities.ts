import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { isId } from '../domain/ids.ts'
import type { Tracing } from './traces.ts'

/** Makes each run of an activity a span of the trace of its payment. */
export function traceActivities(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: (input, next) =>
        tracing.span(
          {
            name: info.activityType,
            kind: 'internal',
            payment: findPayment(info.workflowExecution?.workflowId, input.args),
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

/** Returns the payment whose workflow it is, or that the first argument names. */
function findPayment(workflowId: string | undefined, [first]: readonly unknown[]): string | null {
  const named = typeof first === 'object' && first !== null ? (first as { paymentId?: unknown }).paymentId : first
  return [workflowId, named].find((id): id is string => typeof id === 'string' && isId('payment', id)) ?? null
}
