import type { Session, Tenant } from '../../db/db.ts'
import type { PageOf } from '../../db/pages.ts'
import { listPayments, type PaymentFilters } from '../../db/payments/payment-list.ts'
import { formatAmount } from '../../domain/money.ts'
import { type Payment, type PaymentObject, renderPayment } from '../../domain/payment/payment-object.ts'
import { csvLine } from './csv.ts'
import { csvFile, type ExportFile, type ExportFormat, unhurried } from './file.ts'

export type PaymentExportDeps = { readonly publicUrl: string; readonly clock: () => number }

type Wanted = { readonly filters: PaymentFilters; readonly form: ExportFormat }
type Reader = { readonly db: Session; readonly tenant: Tenant }

/** Rows that an export reads at once: the memory it needs, whatever the number of payments, and some 10 ms of the process. */
const PER_READ = 100

/** Every payment that the filters let through, newest first. */
export function paymentsFile(deps: PaymentExportDeps, reader: Reader, { filters, form }: Wanted): ExportFile {
  const name = `payments-${new Date(deps.clock()).toISOString().slice(0, 10)}`
  const chunks = unhurried(exported(deps, reader, { filters, form }))
  return form === 'json' ? { name: `${name}.json`, type: 'application/json', chunks } : csvFile(name, form, chunks)
}

/** Nothing is given out before the first payments were read: until then an error can still be told. */
async function* exported(
  { publicUrl }: PaymentExportDeps,
  { db, tenant }: Reader,
  { filters, form }: Wanted,
): AsyncIterable<string> {
  let after: string | null = null
  for (let isFirst = true; ; isFirst = false) {
    const page: PageOf = { limit: PER_READ, after, before: null }
    const { rows, hasMore } = await db.transaction(async (tx) => {
      const found = await listPayments(tx, tenant, { filters, page })
      if (found === null) throw new Error('the last payment of a page is gone')
      return found
    })
    const read = rows.map(({ payment, attempts }) => ({ payment, object: renderPayment(payment, attempts, publicUrl) }))
    yield form === 'json' ? jsonOf(read, isFirst) : csvOf(read, isFirst)
    after = rows.at(-1)?.payment.id ?? null
    if (!hasMore || after === null) break
  }
  if (form === 'json') yield ']\n'
}

type Read = { readonly payment: Payment; readonly object: PaymentObject }

function jsonOf(read: readonly Read[], isFirst: boolean): string {
  const texts = read.map(({ object }) => JSON.stringify(object)).join(',\n')
  return `${isFirst ? '[' : texts === '' ? '' : ',\n'}${texts}`
}

const COLUMNS = [
  'id',
  'status',
  'amount_decimal',
  'currency',
  'provider_used',
  'method_used',
  'reference',
  'description',
  'created_at',
  'paid_at',
  'succeeded_at',
] as const
const SETTLEMENT_COLUMNS = [
  'gross_usdc',
  'fee_usdc',
  'net_usdc',
  'rate',
  'rate_from',
  'rate_to',
  'destination',
  'tx_hash',
  'finalized_at',
] as const
/** The buyer's charge in the partner's currency, and the metadata as JSON. */
const MORE_COLUMNS = ['charged_decimal', 'charged_currency', 'exception', 'payment_link', 'metadata'] as const

function csvOf(read: readonly Read[], isFirst: boolean): string {
  const lines = read.map(({ object, payment: { confirmed } }) =>
    csvLine([
      ...COLUMNS.map((name) => object[name]),
      ...SETTLEMENT_COLUMNS.map((name) => object.settlement[name]),
      confirmed === null ? null : formatAmount(confirmed),
      confirmed?.currency ?? null,
      object.exception,
      object.payment_link,
      JSON.stringify(object.metadata),
    ]),
  )
  return `${isFirst ? csvLine([...COLUMNS, ...SETTLEMENT_COLUMNS, ...MORE_COLUMNS]) : ''}${lines.join('')}`
}
