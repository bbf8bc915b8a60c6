import { readAgreement } from '../../../db/merchants/agreement.ts'
import { countActiveKeys } from '../../../db/merchants/api-keys.ts'
import {
  countByStatus,
  countDeliveries,
  countEnded,
  listWaiting,
  receivedByDay,
  type Waiting,
} from '../../../db/merchants/overview.ts'
import { readWallet } from '../../../db/merchants/wallets.ts'
import { listPayments } from '../../../db/payments/payment-list.ts'
import { listEndpoints } from '../../../db/webhooks/webhook-endpoints.ts'
import type { StandardAgreement } from '../../../domain/account/agreement.ts'
import { merchantText } from '../../../domain/payment/reviews.ts'
import { renderOverview } from '../../../web/dashboard/overview.tsx'
import { type FirstStepsDeps, firstStepsPages, readFirstSteps, type Shown, type ShowOverview } from './first-steps.ts'
import { definePage, type Page, type PageCall } from './page.ts'

export type OverviewDeps = FirstStepsDeps & { readonly agreement: StandardAgreement }

const LATEST = 6
const DAYS = 30
const MOST_WAITING = 20
const IN_FLIGHT = ['pending', 'processing', 'settling'] as const

export function overviewPages(deps: OverviewDeps): Page[] {
  const show: ShowOverview = (call, shown) => overview(deps, call, shown)
  return [
    definePage({
      method: 'get',
      path: '/dashboard',
      needs: 'look',
      handle: async (call) => ({ html: await show(call, {}) }),
    }),
    ...firstStepsPages(deps, show),
  ]
}

async function overview(deps: OverviewDeps, call: PageCall, shown: Shown): Promise<string> {
  const { tenant, frame, signedIn } = call
  const now = new Date(deps.clock()).toISOString()
  const page = { limit: LATEST, after: null, before: null }
  const yesterday = new Date(deps.clock() - 86_400_000).toISOString()
  const { days, ended, counts, waiting, latest, agreement, wallet, endpoints, deliveries, keys } = await call.inTurn(
    async (db) => ({
      // One after the other, on one connection.
      days: await receivedByDay(db, tenant, { now, days: DAYS }),
      ended: await countEnded(db, tenant, `${now.slice(0, 10)}T00:00:00Z`),
      counts: await countByStatus(db, tenant),
      waiting: await listWaiting(db, tenant, MOST_WAITING),
      latest: await listPayments(db, tenant, { filters: {}, page }),
      agreement: await readAgreement(db, tenant.merchantId, deps.agreement),
      wallet: await readWallet(db, tenant),
      endpoints: await listEndpoints(db, tenant),
      deliveries: await countDeliveries(db, tenant, yesterday),
      keys: await db.transaction((tx) => countActiveKeys(tx, tenant, now)),
    }),
  )
  const done = {
    wallet: wallet !== null,
    webhook: endpoints.length > 0,
    key: keys > 0,
    payment: (counts.get('succeeded') ?? 0) > 0,
    passkey: signedIn.session.hasPasskey,
  }
  return renderOverview({
    frame,
    now,
    days,
    ended,
    inFlight: IN_FLIGHT.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0),
    waiting: waiting.map((row) => ({
      paymentId: row.payment_id,
      amount: { minor: row.amount_minor, currency: row.currency },
      order: row.order,
      what: whatWaits(row),
      since: row.since,
    })),
    latest: (latest?.rows ?? []).map(({ payment }) => payment),
    agreement,
    wallet,
    webhooks: endpoints.length === 0 ? null : deliveries,
    first: await readFirstSteps(deps, call, { ...shown, done }),
  })
}

/** Each kind of the view `attention`, for merchants: what happened, and what follows from it. */
const WAITING: Readonly<Record<string, string>> = {
  processing_stale: 'The partner has been confirming the payment for more than a day. Do not ship yet.',
  conversion_open:
    'The converter has not reported on an order that is no longer needed. You do not need to do anything.',
  conversion_overdue: 'The conversion to USDC is taking longer than it should. The money is safe.',
  settlement_overdue: 'The USDC is taking longer than it should. Do not ship before it is in your wallet.',
  payouts_held: 'The payout waits until your account is active again. The money is safe.',
  expiry_overdue: 'The payment should have expired. Do not ask the buyer to pay it.',
  held: 'We hold the payment. Do not ship yet.',
  partner_unread: 'The partner is not responding about this payment. Do not ship yet.',
  give_back_pending: 'Money is going back to the buyer, and the partner has not confirmed it yet.',
  refund_pending: 'A refund is with the partner, which has not confirmed it yet.',
  cancel_pending:
    'The partner has not confirmed yet that the buyer’s order is canceled. Money that still arrives is safe.',
}

const whatWaits = (waiting: Waiting): string =>
  merchantText(waiting, waiting.reason) ?? WAITING[waiting.kind] ?? waiting.kind.replaceAll('_', ' ')
