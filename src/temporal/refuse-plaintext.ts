import { ApplicationFailure, log, type WorkflowInterceptors } from '@temporalio/workflow'
import { findRefusal } from './refused-message.ts'

/**
 * No message from outside can stop a workflow. Part of the workflow bundle. An update and a query are answered with the
 * reason; a signal is logged. A run that was started with such an input fails immediately, and the relay starts the
 * right one from the payment's row.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute: (input, next) => refused(input.args) ?? next(input),
      validateUpdate: (input, next) => {
        const failure = findFailure(input.args)
        if (failure !== null) throw failure
        next(input)
      },
      handleQuery: (input, next) => refused(input.args) ?? next(input),
      handleSignal: (input, next) => {
        const why = findRefusal(input.args)
        if (why === null) return next(input)
        log.warn(`the signal ${input.signalName} changes nothing: ${why}`)
        return Promise.resolve()
      },
    },
  ],
})

function findFailure(args: readonly unknown[]): ApplicationFailure | null {
  const why = findRefusal(args)
  return why === null ? null : ApplicationFailure.nonRetryable(why, 'PayloadRefused')
}

function refused(args: readonly unknown[]): Promise<never> | null {
  const failure = findFailure(args)
  return failure === null ? null : Promise.reject(failure)
}
