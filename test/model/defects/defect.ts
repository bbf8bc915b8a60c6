import type { insertIncident } from '../../../src/db/payments/money/money-writes.ts'
import type { PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import type { Incident } from '../../../src/domain/payment/money/intents.ts'
import type { Seam } from '../time/load.ts'

/**
 * A bug that must be caught: a wrong answer of a named function or constant. `and`: a second one, behind which it would hide.
 * `caughtBy`: the title of the found story that goes wrong with it.
 */
export type Defect = { readonly name: string; readonly caughtBy: string; readonly and?: readonly Seam[] } & Seam

/** Types what is planted by what it replaces. */
export const plant =
  <Real>(make: (real: Real) => Real): Seam['plant'] =>
  (real: never) =>
    make(real)

/** The work on a locked payment with some of its methods replaced. Its state stays that of the real one. */
export const withMethods = (work: PaymentWork, methods: Partial<PaymentWork>): PaymentWork =>
  Object.assign(Object.create(work) as PaymentWork, methods)

/** No incident is opened for what passes. */
export const withoutIncident = (passes: (incident: Incident) => boolean): Seam => ({
  file: 'src/db/payments/money/money-writes.ts',
  seam: 'insertIncident',
  plant: plant<typeof insertIncident>(
    (real) => async (tx, incident, where) => !passes(incident) && real(tx, incident, where),
  ),
})
