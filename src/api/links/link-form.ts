import { z } from 'zod'
import { type Currency, isCurrency } from '../../domain/currencies.ts'
import type { LinkPrice, PaymentLink } from '../../domain/link/link.ts'
import { isProviderName } from '../../domain/methods.ts'
import { formatAmount } from '../../domain/money.ts'
import { readTypedAmount, readTypedNumber } from '../../domain/typed-amount.ts'
import type { LinkDraft } from '../../web/links/link-draft.ts'
import type { Problem } from '../http/problems.ts'
import { toFieldErrors } from '../http/validation.ts'
import type { Entered } from '../operation.ts'
import { amountProblem, limitText } from './hints.ts'
import type { createLinkBody } from './link-fields.ts'

/** Characters, more than a field accepts: a text that is too long gets an error and is not cut. */
const LONGEST = 3000
const text = z.string().max(LONGEST).default('')

export const linkForm = z.object({
  wallet: text,
  title: text,
  description: text,
  kind: z.enum(['fixed', 'open']).default('fixed'),
  amount: text,
  min_amount: text,
  max_amount: text,
  currency: text,
  provider: text,
  max_payments: text,
  expires_at: text,
  reference: text,
  success_url: text,
  inactive_message: text,
  prefill_amount: text,
  prefill_reference: text,
}) satisfies z.ZodType<LinkDraft>

export const EMPTY_DRAFT: LinkDraft = linkForm.parse({ currency: 'EUR' })

/** Empty fields are omitted, except for a fixed amount. */
export function toLinkBody(draft: LinkDraft): Entered<z.input<typeof createLinkBody>> {
  const given = <F extends keyof LinkDraft, V>(field: F, read: (written: string) => V): Partial<Record<F, V>> =>
    draft[field].trim() === '' ? {} : ({ [field]: read(draft[field]) } as Record<F, V>)
  const readAmount = (written: string): string => plainAmount(written, draft.currency)
  return {
    title: oneLine(draft.title),
    currency: draft.currency,
    ...(draft.kind === 'fixed'
      ? { amount: readAmount(draft.amount) }
      : { ...given('min_amount', readAmount), ...given('max_amount', readAmount) }),
    ...given('description', oneLine),
    ...given('provider', oneLine),
    ...given('expires_at', endOfDay),
    ...given('max_payments', (written) => wholeNumber(written) ?? written),
    ...given('reference', oneLine),
    ...given('success_url', oneLine),
    ...given('inactive_message', oneLine),
    prefill: readPrefill(draft),
  }
}

/** A day counts until its end. */
const endOfDay = (written: string): string =>
  /^\d{4}-\d\d-\d\d$/.test(written.trim()) ? `${written.trim()}T23:59:59Z` : written.trim()

const AMOUNTS = ['amount', 'min_amount', 'max_amount'] as const

/** An unreadable amount stays as it was written, and the API refuses it. */
export function plainAmount(written: string, currency: string): string {
  const read = isCurrency(currency) ? readTypedAmount(written, currency) : null
  return read?.ok === true ? formatAmount(read.money) : written.trim()
}

function wholeNumber(written: string): number | null {
  const read = readTypedNumber(written, 0)
  return read.ok && /^\d{1,9}$/.test(read.decimal) ? Number(read.decimal) : null
}

/** A fixed amount cannot be prefilled. */
function readPrefill({ kind, prefill_amount: amount, prefill_reference: reference }: LinkDraft): string[] {
  return [...(kind === 'open' && amount !== '' ? ['amount'] : []), ...(reference === '' ? [] : ['reference'])]
}

export const oneLine = (written: string): string => written.replace(/\s*\r?\n\s*/g, ' ').trim()

export function explainToForm(problem: Problem, draft: LinkDraft): Record<string, string> {
  const { limit, param: field = 'title' } = problem.extras
  const provider = isProviderName(draft.provider) ? draft.provider : null
  if (limit !== undefined) return { [field]: limitText(problem.code === 'amount_too_small', limit, provider) }
  const refused = toFieldErrors(problem, 'title')
  const { currency } = draft
  const typed = AMOUNTS.flatMap((name) => {
    const why = name in refused && isCurrency(currency) ? amountProblem(draft[name], currency) : null
    return why === null ? [] : [[name, why]]
  })
  const errors: Record<string, string> = { ...refused, ...Object.fromEntries(typed) }
  const { title, ...rest } = errors
  return title?.includes('at least 1') === true || title?.includes('1 to 100') === true
    ? { title: 'Enter what it is for, in 1 to 100 characters.', ...rest }
    : errors
}

export function draftLink(
  draft: LinkDraft,
  { livemode, wallet, anonymous }: Pick<PaymentLink, 'livemode' | 'wallet' | 'anonymous'>,
): PaymentLink {
  const now = new Date(0).toISOString()
  const most = draft.max_payments
  return {
    id: '',
    merchantId: '',
    livemode,
    code: '',
    active: true,
    price: draftPrice(draft),
    provider: isProviderName(draft.provider) ? draft.provider : null,
    title: oneLine(draft.title).slice(0, 100) || 'What it is for',
    description: oneLine(draft.description).slice(0, 500) || null,
    reference: null,
    metadata: null,
    invoice: null,
    successUrl: null,
    prefill: [],
    maxPayments: wholeNumber(most) || null,
    paymentsCount: 0,
    expiresAt: null,
    inactiveMessage: null,
    wallet,
    createdVia: 'form',
    anonymous,
    completedAt: null,
    stoppedAt: null,
    stoppedReason: null,
    createdAt: now,
    updatedAt: now,
  }
}

function draftPrice({ currency: code, kind, ...amounts }: LinkDraft): LinkPrice {
  const currency: Currency = isCurrency(code) ? code : 'EUR'
  const read = (written: string) => {
    const typed = readTypedAmount(written, currency)
    return typed.ok ? typed.money : null
  }
  if (kind === 'open') return { currency, amount: null, min: read(amounts.min_amount), max: read(amounts.max_amount) }
  return { currency, amount: read(amounts.amount) ?? { minor: '0', currency }, min: null, max: null }
}
