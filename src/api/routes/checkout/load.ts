import type { Request } from 'express'
import type { Queryable } from '../../../db/db.ts'
import { readCheckout, type StoredCheckout } from '../../../db/payments/checkouts.ts'
import { maskEmail } from '../../../domain/account/email.ts'
import type { MicroUsdc } from '../../../domain/money.ts'
import { type DownPartners, offersFor, type RateTable } from '../../../domain/offers.ts'
import type { Offering } from '../../../domain/partner/offering.ts'
import { isOpen } from '../../../domain/payment/payment.ts'
import { checkoutUrl, type Payment } from '../../../domain/payment/payment-object.ts'
import type { Platform } from '../../../domain/platform.ts'
import { isDust } from '../../../domain/settlement/deposit.ts'
import type { Logger } from '../../../runtime/log.ts'
import { type Checkout, findOpenedAttempt, type PartnerNames } from '../../../web/checkout/checkout.ts'
import { buyerCountry, type CountryDeps, detectDevice, hasDeviceWallet, readSimulatedBuyer } from '../buyer.ts'
import { linkToken, PageProblem } from '../page-problem.ts'
import { type RateBook, readRates } from '../prices.ts'
import type { SimulateDeps } from '../v1/payments/simulate-outcome.ts'
import { readPageChoice } from './forms.ts'

export type LoadDeps = CountryDeps & {
  readonly db: Queryable
  readonly platform: Platform
  readonly rates: RateBook
  readonly publicUrl: string
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly offering: Offering
  readonly down: () => DownPartners
  readonly partners: PartnerNames
  /** Null except with `npm start`. */
  readonly simulatedWalletUrl: string | null
  /** Null if the partners are real. */
  readonly simulating: SimulateDeps | null
  readonly log: Logger
}

/** Throws if the link belongs to no payment. */
export async function loadCheckout(deps: LoadDeps, request: Request): Promise<Checkout> {
  return toCheckout(deps, request, await findCheckout(deps, request))
}

export async function loadFramed(deps: LoadDeps, request: Request): Promise<Checkout> {
  const found = await findCheckout(deps, request)
  const checkout = await toCheckout(deps, request, found)
  // Without the bar of test payments, whose choices are cookies: browsers keep none for a frame on another site.
  return { ...checkout, sandbox: null, frame: { path: `${checkout.path}/frame`, origins: found.origins } }
}

async function findCheckout({ db }: LoadDeps, request: Request): Promise<StoredCheckout> {
  const found = await readCheckout(db, linkToken(request))
  if (found === null) throw new PageProblem('not_found')
  return found
}

async function toCheckout(deps: LoadDeps, request: Request, found: StoredCheckout): Promise<Checkout> {
  const { payment, attempts, sales, shop, givenBack, refunds } = found
  const played = deps.simulating === null || payment.livemode ? null : readSimulatedBuyer(request)
  const country = buyerCountry(request, deps)
  const rates = isOpen(payment.status) ? await ratesFor(deps, payment) : null
  const offered = offersFor({
    amount: payment.amount,
    provider: payment.provider,
    fallback: payment.fallback,
    country: country.code,
    rates,
    offering: deps.offering,
    // As if the partner had been down all the time, so that the timeline notes it once.
    down: { ...deps.down(), ...(played?.down && { [played.down]: payment.createdAt }) },
    deviceWallet: played?.device === 'desktop' ? false : hasDeviceWallet(request.get('user-agent')),
  })
  const url = checkoutUrl(deps.publicUrl, payment.checkoutToken)
  const path = new URL(url).pathname
  return {
    platform: deps.platform,
    payment,
    attempts,
    sales,
    givenBack,
    refunds,
    customerTaxId: found.buyer?.taxId ?? null,
    receiptMail: toReceiptMail(found),
    received: receivedAt(found),
    shop,
    partners: deps.partners,
    offered,
    country,
    device: played?.device ?? detectDevice(request.get('user-agent')),
    sandbox: played && {
      open: request.query['sandbox'] !== undefined,
      note: null,
      device: played.device,
      isDown: played.down !== null,
      walletUrl: deps.simulatedWalletUrl,
    },
    asked: readPageChoice(request),
    frame: null,
    isAddressOld: false,
    cameBackAt: cameBackAt(request, { attempts, now: deps.clock() }),
    now: new Date(deps.clock()).toISOString(),
    url,
    path,
  }
}

/** Whoever has the link sees the page, so it shows an address masked. */
function toReceiptMail({ buyer }: StoredCheckout): Checkout['receiptMail'] {
  if (buyer === null) return { to: null, isFixed: false, wrong: null }
  const { email, source, isMailed } = buyer
  const isFixed = isMailed || (email !== null && source === 'merchant')
  return { to: email && maskEmail(email), isFixed, wrong: null }
}

/** Null without a rate: limits were checked when the payment was created. */
async function ratesFor(deps: LoadDeps, payment: Payment): Promise<RateTable | null> {
  try {
    return (await readRates(deps.rates, payment.amount.currency)).table
  } catch (error) {
    deps.log.warn({ err: error, payment_id: payment.id }, 'checkout shown without rates')
    return null
  }
}

/** The transfer is on chain before the payment knows it, so the buyer must not be asked again. Dust does not count. */
function receivedAt({ payment, deposit }: StoredCheckout): MicroUsdc | null {
  const isAsked = isOpen(payment.status) || payment.statusReason === 'too_little'
  return !isAsked || deposit === null || isDust(deposit) ? null : deposit.units
}

/** `?back=<Unix seconds>` must be between the opening of the order and now: anybody can write a URL. */
function cameBackAt(
  { query }: Request,
  { attempts, now }: { attempts: Checkout['attempts']; now: number },
): string | null {
  const opened = findOpenedAttempt(attempts)
  const at = typeof query['back'] === 'string' && /^\d{10}$/.test(query['back']) ? Number(query['back']) * 1000 : null
  if (opened === null || at === null || at > now || at < Date.parse(opened.createdAt) - 1000) return null
  return new Date(at).toISOString()
}
