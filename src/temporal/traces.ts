import type { Tracing } from '../runtime/traces.ts'
import type { PaymentWorkflows } from './payments.ts'

/** Adds the API's calls to a payment's workflow to the trace of the payment. `note` receives the payment's id. */
export function traceWorkflows(
  workflows: PaymentWorkflows,
  { tracing, note }: { readonly tracing: Tracing; readonly note: (paymentId: string) => void },
): PaymentWorkflows {
  const ask = <T>(name: string, payment: string, work: () => Promise<T>): Promise<T> => {
    note(payment)
    return tracing.span({ name: `workflow ${name}`, kind: 'client', payment }, work)
  }
  return {
    ...workflows,
    start: (row) => ask('start', row.id, () => workflows.start(row)),
    openAttempt: (id, request) => ask('openAttempt', id, () => workflows.openAttempt(id, request)),
    cancel: (id) => ask('cancel', id, () => workflows.cancel(id)),
    signalOrderChanged: (id, attemptId) => ask('orderChanged', id, () => workflows.signalOrderChanged(id, attemptId)),
  }
}
