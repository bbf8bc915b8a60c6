import type { Changed } from '../../../db/payments/payment-changes.ts'

/** `wait`: nothing was changed, and the step is to be tried again after so many seconds. */
export type Converted = Changed & { readonly wait?: number }
