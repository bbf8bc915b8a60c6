import { randomInt } from 'node:crypto'
import type { NewLink } from '../../db/links/links.ts'
import { getLinkLimit, type MerchantLimits, type StandardAgreement } from '../../domain/account/agreement.ts'
import type { CreatedVia, LinkPrice } from '../../domain/link/link.ts'
import { compareAt, type MicroUsdc, type Money } from '../../domain/money.ts'
import { createInvoice } from '../../domain/payment/invoice.ts'
import type { Platform } from '../../domain/platform.ts'
import { Problem, refuseField } from '../http/problems.ts'
import { explainPaymentLimit } from '../limits/agreement.ts'
import { type PriceDeps, requireCurrency, requirePrice } from '../routes/prices.ts'
import { toInvoiceFields } from '../routes/v1/payments/invoice-schemas.ts'
import { refuseLocalUrl } from '../routes/v1/payments/payment-create.ts'
import type { CreateLinkBody } from './link-fields.ts'

export type LinkMakerDeps = PriceDeps & {
  readonly agreement: StandardAgreement
  readonly platform: Pick<Platform, 'support'>
  readonly clock: () => number
  readonly newLinkId: () => string
}

type Making = {
  readonly livemode: boolean
  readonly wallet: string | null
  readonly createdVia: CreatedVia
  readonly limits: MerchantLimits
}

/** Throws a Problem for an invalid price, expiry or return URL, and for a price that no buyer could pay. */
export async function makeLink(deps: LinkMakerDeps, body: CreateLinkBody, making: Making): Promise<NewLink> {
  const { livemode, wallet, createdVia, limits } = making
  if (livemode) refuseLocalUrl('success_url', body.success_url)
  requireFuture(body.expires_at, deps.clock())
  return {
    id: deps.newLinkId(),
    code: newLinkCode(),
    price: await readLinkPrice(deps, body, getLinkLimit(limits)),
    provider: body.provider ?? null,
    title: body.title,
    description: body.description ?? null,
    reference: body.reference ?? null,
    metadata: body.metadata ?? null,
    invoice: createInvoice(toInvoiceFields(body), body.currency),
    successUrl: body.success_url ?? null,
    prefill: body.prefill,
    maxPayments: body.max_payments ?? null,
    expiresAt: body.expires_at ?? null,
    inactiveMessage: body.inactive_message ?? null,
    wallet,
    createdVia,
    anonymous: createdVia === 'form',
    createdAt: new Date(deps.clock()).toISOString(),
  }
}

export function requireFuture(time: string | null | undefined, now: number): void {
  if (time !== null && time !== undefined && Date.parse(time) <= now)
    throw refuseField('expires_at', 'must be in the future')
}

/** The amount that a buyer enters is checked again. */
async function readLinkPrice(deps: LinkMakerDeps, body: CreateLinkBody, most: MicroUsdc | null): Promise<LinkPrice> {
  const { currency, provider = null } = body
  requireCurrency({ currency, provider, offering: deps.offering })
  const read = async (field: 'amount' | 'min_amount' | 'max_amount'): Promise<Money | null> => {
    const text = body[field]
    if (text === undefined) return null
    const question = { text, currency, provider }
    const { amount, gross } = await requirePrice(deps, question).catch((problem) => rethrowFor(field, problem))
    if (field !== 'max_amount' && most !== null && BigInt(gross) > BigInt(most))
      throw explainPaymentLimit(most, deps.platform.support, field)
    return amount
  }
  const price = { currency, amount: await read('amount'), min: await read('min_amount'), max: await read('max_amount') }
  if (price.min !== null && price.max !== null && compareAt(price.min, price.max, { a: '1', b: '1' }) > 0)
    throw refuseField('max_amount', 'must not be less than min_amount')
  return price
}

function rethrowFor(field: string, problem: unknown): never {
  if (problem instanceof Problem && problem.extras.param === 'amount')
    throw new Problem(problem.code, problem.message, { ...problem.extras, param: field })
  throw problem
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 59 bits: a code is not secret, but guessing must not list the existing links. */
const CODE_LENGTH = 10

function newLinkCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}
