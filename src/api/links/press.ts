import { createHash } from 'node:crypto'
import type { Db, Tenant, Tx } from '../../db/db.ts'
import { lockLink, waitForLink } from '../../db/links/links.ts'
import { readAgreement, readPaymentTerms } from '../../db/merchants/agreement.ts'
import { type CreatedEvent, type Creation, type CreationRefusal, insertPayment } from '../../db/payments/payments.ts'
import type { StandardAgreement } from '../../domain/account/agreement.ts'
import { findBounds, linkUrl, type PaymentLink, shownLinkStatus } from '../../domain/link/link.ts'
import { convertFromMicroUsdc, formatAmount, isMore, type Money } from '../../domain/money.ts'
import type { NewPayment } from '../../domain/payment/new-payment.ts'
import { checkoutUrl } from '../../domain/payment/payment-object.ts'
import { type Price, quotePrice, whyUnpriceable } from '../../domain/payment/price.ts'
import type { Platform } from '../../domain/platform.ts'
import { readTypedAmount } from '../../domain/typed-amount.ts'
import { makeRoom } from '../../payments/link-places.ts'
import type { PaymentWorkflows } from '../../temporal/payments.ts'
import type { WrongAmount } from '../../web/links/link-page.tsx'
import { type Claim, createClaim, readReplay } from '../http/idempotency.ts'
import { explainRefusal } from '../limits/agreement.ts'
import { type PriceDeps, readRates } from '../routes/prices.ts'
import { type DraftDeps, draftPayment, type StartDeps, startWorkflows } from '../routes/v1/payments/draft.ts'

export type PressDeps = DraftDeps &
  StartDeps &
  PriceDeps & {
    readonly db: Db
    readonly publicUrl: string
    readonly platform: Pick<Platform, 'support'>
    readonly agreement: StandardAgreement
    readonly linksWithoutAccount: boolean
    readonly workflows: Pick<PaymentWorkflows, 'start' | 'signalRowChanged'>
  }

export type Press = {
  /** Each rendered page has a new one. */
  readonly press: string
  /** In major units, as the buyer wrote it. Ignored if the link has a fixed amount. */
  readonly amount: string
  /** Ignored unless the link allows it. */
  readonly reference: string | null
}

export type PressAnswer =
  | { readonly kind: 'made'; readonly path: string }
  | { readonly kind: 'closed' }
  /** A limit of the merchant, about which the buyer can do nothing. */
  | { readonly kind: 'limited' }
  | ({ readonly kind: 'amount' } & WrongAmount)
  /** The price or the wallet cannot be determined now. */
  | { readonly kind: 'unavailable' }

/**
 * Seconds. With a limit of payments a payment occupies a place, so it is open for the shortest possible time, half an
 * hour, and for the quarter of an hour more that its buyer can request once.
 */
const OPEN_SECONDS = { limited: 1800, unlimited: 86_400 } as const

/** One payment for a press, however often it is sent. Throws `limit_reached` while too many payments are open. */
export async function pressLink(deps: PressDeps, link: PaymentLink, press: Press): Promise<PressAnswer> {
  const tenant = { merchantId: link.merchantId, livemode: link.livemode }
  const db = deps.db.as(tenant)
  const claim = claimOfPress(link, press)
  const before = await readReplay(db, tenant, claim)
  if (before !== null) return replayedAnswer(before)
  const asked = await newPayment(deps, { tenant, link, press })
  if ('kind' in asked) return asked
  const path = new URL(checkoutUrl(deps.publicUrl, asked.checkoutToken)).pathname
  const stored = { ...claim, status: 303, location: path, body: '' }
  const { publicUrl, agreement } = deps
  const create = { payment: asked, claim: stored, publicUrl, agreement, by: 'buyer' } as const
  // Not as the merchant, who changes no payment: a payment of another buyer may be expired to make room.
  const answer = await deps.db
    .transaction((tx) => insertUnderLock(tx, deps, { tenant, link, create }))
    .catch((error: unknown) => {
      if (error instanceof NoRoom) return { kind: 'closed' } as const
      if (error instanceof NotCreated) return answerRefusal(deps, error.why, { tenant, link, payment: asked })
      throw error
    })
  if ('kind' in answer) return answer
  startWorkflows(deps, tenant, { payment: asked, event: answer })
  return { kind: 'made', path }
}

/** Thrown to roll back, so that no payment is expired for a press that gets no place. */
class NoRoom extends Error {}

type Stored = Claim & { readonly status: number; readonly location: string; readonly body: string }
type Create = Creation & { readonly payment: NewPayment; readonly claim: Stored }

/** Inserts under the lock of the link: of two presses for the last place, the second gets `closed`. */
async function insertUnderLock(
  tx: Tx,
  deps: PressDeps,
  { tenant, link, create }: { tenant: Tenant; link: PaymentLink; create: Create },
): Promise<PressAnswer | CreatedEvent> {
  await waitForLink(tx)
  const locked = await lockLink(tx, tenant, link.id)
  // The link was moved to an account since it was read: the next press finds it there.
  if (locked === null) return { kind: 'unavailable' }
  const before = await readReplay(tx, tenant, create.claim)
  if (before !== null) return replayedAnswer(before)
  // The insert below asks whether the merchant can sell.
  const seller = { merchant: 'approved', linksWithoutAccount: deps.linksWithoutAccount } as const
  if (shownLinkStatus(locked, seller, create.payment.createdAt) !== 'active') return { kind: 'closed' }
  const context = { publicUrl: deps.publicUrl, now: deps.clock }
  // Its workflow reads the row at the old expiry at the latest.
  const onExpired = (id: string) =>
    tx.afterCommit(() => void deps.workflows.signalRowChanged(id).catch(() => undefined))
  if (!(await makeRoom(tx, context, { link: locked, onExpired }))) throw new NoRoom()
  const event = await insertPayment(tx, tenant, create)
  if (typeof event === 'string') throw new NotCreated(event)
  return event
}

/** Thrown to roll back, as NoRoom. */
class NotCreated extends Error {
  readonly why: CreationRefusal
  constructor(why: CreationRefusal) {
    super(why)
    this.why = why
  }
}

async function answerRefusal(
  deps: PressDeps,
  why: CreationRefusal,
  { tenant, link, payment }: { tenant: Tenant; link: PaymentLink; payment: NewPayment },
): Promise<PressAnswer> {
  if (why === 'not_approved') return { kind: 'closed' }
  if (why === 'other_terms' || why === 'claimed') return { kind: 'unavailable' }
  const db = deps.db.as(tenant)
  if (why === 'open_limit') throw await explainRefusal(db, tenant, { ...deps, why })
  const { paymentMicro } = (await readAgreement(db, tenant.merchantId, deps.agreement)).limits
  if (why === 'day_limit' || link.price.amount !== null || paymentMicro === null) return { kind: 'limited' }
  const amount = convertFromMicroUsdc(paymentMicro, payment.amount.currency, payment.quote.rate)
  return { kind: 'amount', why: 'too_large', amount }
}

function replayedAnswer({ headers }: { headers?: Readonly<Record<string, string>> }): PressAnswer {
  return { kind: 'made', path: headers?.['location'] ?? '/' }
}

export const pressRoute = (linkId: string): string => `POST /l/${linkId}`

/** A press with other fields is another press, also on a page from the browser's cache. */
function claimOfPress(link: PaymentLink, { press, amount, reference }: Press): Claim {
  const key = createHash('sha256')
    .update(JSON.stringify([press, amount, reference]))
    .digest('base64url')
  const claim = createClaim(pressRoute(link.id), key, null)
  if (claim === null) throw new Error('a press has a key')
  return claim
}

async function newPayment(
  deps: PressDeps,
  { tenant, link, press }: { tenant: Tenant; link: PaymentLink; press: Press },
): Promise<NewPayment | PressAnswer> {
  const amount = readAmount(link, press.amount)
  if ('kind' in amount) return amount
  const amountText = formatAmount(amount)
  const price = await priceFor(deps, link, amountText)
  if ('kind' in price) return price
  const db = deps.db.as(tenant)
  const { wallet, feePercent, reserve } = await readPaymentTerms(db, tenant, deps.agreement)
  const destination = link.wallet ?? wallet
  if (destination === null) return { kind: 'unavailable' }
  const draft = {
    amountText,
    provider: link.provider,
    fallback: 'picker' as const,
    description: link.title,
    reference: press.reference ?? link.reference,
    metadata: link.metadata,
    invoice: link.invoice,
    successUrl: link.successUrl,
    cancelUrl: linkUrl(deps.publicUrl, link.code),
    paymentLink: link.id,
    destination,
    feePercent,
    reserve,
  }
  const expiresIn = link.maxPayments === null ? OPEN_SECONDS.unlimited : OPEN_SECONDS.limited
  return draftPayment(deps, draft, { price, expiresIn })
}

function readAmount({ price }: PaymentLink, written: string): Money | PressAnswer {
  if (price.amount !== null) return price.amount
  const read = readTypedAmount(written, price.currency)
  if (read.ok) return read.money
  return read.problem === 'ambiguous'
    ? { kind: 'amount', why: 'ambiguous', amount: read.grouped }
    : { kind: 'amount', why: 'format', amount: null }
}

async function priceFor({ rates, offering }: PressDeps, link: PaymentLink, text: string): Promise<Price | PressAnswer> {
  const { currency, min, max } = link.price
  const question = { text, currency, provider: link.provider, offering }
  const hopeless = whyUnpriceable(question)
  if (hopeless !== null) return { kind: 'amount', why: 'format', amount: null }
  const now = await readRates(rates, currency).catch(() => null)
  if (now === null) return { kind: 'unavailable' }
  const answer = quotePrice({ ...question, rates: now })
  const { minimum, maximum } = findBounds(link, now.table)
  if (!answer.ok && answer.refusal.code === 'amount_too_small')
    return { kind: 'amount', why: 'too_small', amount: minimum }
  if (!answer.ok && answer.refusal.code === 'amount_too_large')
    return { kind: 'amount', why: 'too_large', amount: maximum }
  if (!answer.ok) return { kind: 'amount', why: 'format', amount: null }
  const { amount } = answer.price
  if (min !== null && isMore(min, amount)) return { kind: 'amount', why: 'too_small', amount: minimum }
  if (max !== null && isMore(amount, max)) return { kind: 'amount', why: 'too_large', amount: maximum }
  return answer.price
}
