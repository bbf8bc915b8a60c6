import type { createPaymentActivities as CreateActivities } from '../../../src/activities/payment/payment.ts'
import type { createDb as CreateDb } from '../../../src/db/db.ts'
import type * as Events from '../../../src/db/payments/partner-events.ts'
import type * as Changes from '../../../src/db/payments/payment-changes.ts'
import type * as Starts from '../../../src/db/payments/payment-starts.ts'
import type * as Payments from '../../../src/db/payments/payments.ts'
import type * as Deposits from '../../../src/db/settlement/deposits.ts'
import type * as Forgotten from '../../../src/db/settlement/observer/forgotten.ts'
import type * as Payouts from '../../../src/db/settlement/payouts.ts'
import type { createDepositBook as CreateDepositBook } from '../../../src/deps/deposits.ts'
import type * as PaymentObject from '../../../src/domain/payment/payment-object.ts'
import type { createRates as CreateRates } from '../../../src/partners/converter/rates.ts'
import type { createConverter as CreateConverter } from '../../../src/partners/converter/simple-converter.ts'
import type * as Crypto from '../../../src/partners/crypto.ts'
import type { createPartners as CreatePartners } from '../../../src/partners/index.ts'
import type { createSettlementHooks as CreateHooks } from '../../../src/settlement/hooks.ts'
import type { createRelay as CreateRelay } from '../../../src/worker/relay.ts'
import { loadSystem, type Seam } from '../time/load.ts'

/** The part of the system that stories are played against, each file under the name by which it is loaded. */
const FILES = {
  'src/workflows/index.ts': {} as Readonly<Record<string, (input: never) => Promise<unknown>>>,
  'src/activities/payment/payment.ts': {} as { createPaymentActivities: typeof CreateActivities },
  'src/db/db.ts': {} as { createDb: typeof CreateDb },
  'src/db/settlement/deposits.ts': {} as typeof Deposits,
  'src/db/payments/partner-events.ts': {} as typeof Events,
  'src/db/payments/payment-changes.ts': {} as typeof Changes,
  'src/db/payments/payments.ts': {} as typeof Payments,
  'src/db/payments/payment-starts.ts': {} as typeof Starts,
  'src/db/settlement/payouts.ts': {} as typeof Payouts,
  'src/db/settlement/observer/forgotten.ts': {} as typeof Forgotten,
  'src/deps/deposits.ts': {} as { createDepositBook: typeof CreateDepositBook },
  'src/domain/payment/payment-object.ts': {} as typeof PaymentObject,
  'src/partners/converter/simple-converter.ts': {} as { createConverter: typeof CreateConverter },
  'src/partners/converter/rates.ts': {} as { createRates: typeof CreateRates },
  'src/partners/crypto.ts': {} as typeof Crypto,
  'src/partners/index.ts': {} as { createPartners: typeof CreatePartners },
  'src/settlement/hooks.ts': {} as { createSettlementHooks: typeof CreateHooks },
  'src/worker/relay.ts': {} as { createRelay: typeof CreateRelay },
}
type Files = typeof FILES
type Merged<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer All) => void ? All : never
type Named = Merged<Files[Exclude<keyof Files, 'src/workflows/index.ts'>]>
export type System = Named & { readonly workflows: Files['src/workflows/index.ts'] }

export async function loadPayments(options: {
  readonly workflow: Record<string, unknown>
  readonly date: DateConstructor
  readonly seams: readonly Seam[]
}): Promise<System> {
  const names = Object.keys(FILES)
  const packages = { '@temporalio/workflow': options.workflow }
  const [workflows, ...others] = await loadSystem(names, { packages, date: options.date, seams: options.seams })
  return { ...Object.assign({}, ...others), workflows } as System
}
