import { z } from 'zod'
import { type Currency, isCurrency } from '../../domain/currencies.ts'
import type { LinkPrice, PaymentLink } from '../../domain/link/link.ts'
import { isProviderName, PROVIDERS } from '../../domain/methods.ts'
import { parseAmount } from '../../domain/money.ts'
import type { LinkDraft } from '../../web/links/link-draft.ts'
import type { Problem } from '../http/problems.ts'
import { explain, mustBe } from '../http/validation.ts'
import { errorsOf } from '../routes/dashboard/operations.ts'
import { type CreateLinkBody, createLinkBody } from './link-fields.ts'
import { plainAmount } from './press.ts'

/** The forms for links: the one without an account, and the one of the dashboard. */

/** In characters: more than a field takes, so that what is too long is told and not cut. */
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

/** What the fields mean to the API. Fields that are empty are not there, but for an amount that is fixed. */
export function bodyOf(draft: LinkDraft): Record<string, unknown> {
  const { kind, expires_at: day, max_payments: most } = draft
  const given = (name: keyof LinkDraft, value: unknown = oneLine(draft[name])): Record<string, unknown> =>
    draft[name].trim() === '' ? {} : { [name]: value }
  return {
    title: oneLine(draft.title),
    currency: draft.currency,
    ...(kind === 'fixed'
      ? { amount: plainAmount(draft.amount) }
      : {
          ...given('min_amount', plainAmount(draft.min_amount)),
          ...given('max_amount', plainAmount(draft.max_amount)),
        }),
    ...given('description'),
    ...given('provider'),
    // A day counts until its end.
    ...given('expires_at', /^\d{4}-\d\d-\d\d$/.test(day.trim()) ? `${day.trim()}T23:59:59Z` : day.trim()),
    ...given('max_payments', /^\d{1,9}$/.test(most.trim()) ? Number(most) : most),
    ...given('reference'),
    ...given('success_url'),
    ...given('inactive_message'),
    prefill: prefillOf(draft),
  }
}

/** A fixed amount is not filled in. */
function prefillOf({ kind, prefill_amount: amount, prefill_reference: reference }: LinkDraft): string[] {
  return [...(kind === 'open' && amount !== '' ? ['amount'] : []), ...(reference === '' ? [] : ['reference'])]
}

const oneLine = (written: string): string => written.replace(/\s*\r?\n\s*/g, ' ').trim()

/** By the rules of the API. Throws a Problem. */
export function readBody(draft: LinkDraft): CreateLinkBody {
  const value = bodyOf(draft)
  const result = createLinkBody.safeParse(value, { error: mustBe })
  if (result.success) return result.data
  throw explain(result.error, { schema: createLinkBody, where: 'body', value })
}

const limitMembers = z.object({
  minimum: z.object({ amount: z.string(), currency: z.string() }).optional(),
  maximum: z.object({ amount: z.string(), currency: z.string() }).optional(),
})

/** What a Problem says to somebody who fills in the form, by field. */
export function errorsOfForm(problem: Problem, { provider }: LinkDraft): Record<string, string> {
  const { minimum, maximum } = limitMembers.safeParse(problem.extras.members).data ?? {}
  const field = problem.extras.param ?? 'title'
  const who = isProviderName(provider) ? ` for ${PROVIDERS[provider].label}` : ''
  if (minimum !== undefined) return { [field]: `The least${who} is ${minimum.amount} ${minimum.currency}.` }
  if (maximum !== undefined) return { [field]: `The most${who} is ${maximum.amount} ${maximum.currency}.` }
  const errors = errorsOf(problem, 'title')
  const { title, ...rest } = errors
  return title?.includes('at least 1') === true || title?.includes('1 to 100') === true
    ? { title: 'Write what it is for, in 1 to 100 characters.', ...rest }
    : errors
}

/** A link as it would be, as far as the fields can be read: for the preview. */
export function draftLink(
  draft: LinkDraft,
  { livemode, wallet, anonymous }: Pick<PaymentLink, 'livemode' | 'wallet' | 'anonymous'>,
): PaymentLink {
  const now = new Date(0).toISOString()
  const most = draft.max_payments.trim()
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
    successUrl: null,
    prefill: [],
    maxPayments: /^[1-9]\d{0,5}$/.test(most) ? Number(most) : null,
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
    const parsed = parseAmount(plainAmount(written), currency)
    return parsed.ok ? parsed.money : null
  }
  if (kind === 'open') return { currency, amount: null, min: read(amounts.min_amount), max: read(amounts.max_amount) }
  return { currency, amount: read(amounts.amount) ?? { minor: '0', currency }, min: null, max: null }
}
