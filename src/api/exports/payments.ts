import type { Session, Tenant } from '../../db/db.ts'
import type { ListPage } from '../../db/pages.ts'
import { listPayments, type PaymentFilters } from '../../db/payments/payment-list.ts'
import { formatAmount } from '../../domain/money.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { type ShownPayment, showPayments } from '../routes/v1/payments/shown-payments.ts'
import { csvLine } from './csv.ts'
import { csvFile, type ExportFile, type ExportFormat, unhurried } from './file.ts'

export type PaymentExportDeps = { readonly publicUrl: string; readonly clock: () => number }

type ExportRequest = { readonly filters: PaymentFilters; readonly form: ExportFormat }
type Reader = { readonly db: Session; readonly tenant: Tenant }

/** Bounds the memory of an export. Each read takes about 10 ms of the process. */
const PER_READ = 100

export function paymentsFile(deps: PaymentExportDeps, reader: Reader, { filters, form }: ExportRequest): ExportFile {
  const name = `payments-${new Date(deps.clock()).toISOString().slice(0, 10)}`
  const chunks = unhurried(exportChunks(deps, reader, { filters, form }))
  return form === 'json' ? { name: `${name}.json`, type: 'application/json', chunks } : csvFile(name, form, chunks)
}

/** Yields nothing until the first payments are read, so that an early error can still become a problem response. */
async function* exportChunks(
  { publicUrl }: PaymentExportDeps,
  { db, tenant }: Reader,
  { filters, form }: ExportRequest,
): AsyncIterable<string> {
  let after: string | null = null
  for (let isFirst = true; ; isFirst = false) {
    const page: ListPage = { limit: PER_READ, after, before: null }
    const { rows, hasMore, objects } = await db.transaction(async (tx) => {
      const found = await listPayments(tx, tenant, { filters, page })
      if (found === null) throw new Error('the last payment of a page is gone')
      return { ...found, objects: await showPayments({ db: tx, tenant, publicUrl }, found.rows) }
    })
    const read = rows.flatMap(({ payment }, place) => {
      const object = objects[place]
      return object === undefined ? [] : [{ payment, object }]
    })
    yield form === 'json' ? toJson(read, isFirst) : toCsv(read, isFirst)
    after = rows.at(-1)?.payment.id ?? null
    if (!hasMore || after === null) break
  }
  if (form === 'json') yield ']\n'
}

type Read = { readonly payment: Payment; readonly object: ShownPayment }

function toJson(read: readonly Read[], isFirst: boolean): string {
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

function toCsv(read: readonly Read[], isFirst: boolean): string {
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
