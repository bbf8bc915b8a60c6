import express, { type Request, type RequestHandler } from 'express'
import { z } from 'zod'
import { isCountry } from '../../../domain/countries.ts'
import { type MethodName, USED_PROVIDER_NAMES, WAYS } from '../../../domain/methods.ts'
import type { Asked } from '../../../web/checkout/checkout.ts'
import { LOCALES } from '../../../web/messages/locales.ts'
import { fromOurPage } from '../from-our-page.ts'
import { PageProblem } from '../page-problem.ts'

const choiceForm = z.object({
  provider: z.enum(USED_PROVIDER_NAMES),
  method: z.enum(WAYS.map(({ method }) => method) as [MethodName, ...MethodName[]]),
})
/** An address for the receipt, as the buyer typed it, and the consent to give it to the merchant. */
export const mailForm = z.object({ email: z.string().max(300).default(''), share: z.string().max(10).optional() })
export const continueForm = choiceForm.extend(mailForm.shape)

/** `chosen`: the way to pay that the buyer was looking at, `<provider>.<method>`. */
export const countryForm = z.object({ country: z.string().refine(isCountry), chosen: z.string().max(60).optional() })

/** `at`: the page on which the language was chosen. */
export const languageForm = z.object({ language: z.enum(LOCALES), at: z.string().max(300) })

const readForm = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 })

/** The URL of the page is the buyer's only key. */
export const readBuyerForm = (publicUrl: string): RequestHandler[] => [fromOurPage(publicUrl, 'allowed'), readForm]

export function parseForm<T extends z.ZodType>(schema: T, request: Request): z.output<T> {
  const parsed = schema.safeParse(request.body)
  if (!parsed.success) throw new PageProblem('bad_request')
  return parsed.data
}

/** Reads `?step=` and `?method=<provider>.<method>`. Ignores anything else. */
export function readPageChoice({ query }: Request): Asked {
  const step = query['step']
  return { step: step === 'pick' || step === 'country' ? step : null, choice: readChoice(query['method']) }
}

export function readChoice(text: unknown): Asked['choice'] {
  const [provider, method] = typeof text === 'string' ? text.split('.') : []
  const choice = choiceForm.safeParse({ provider, method })
  return choice.success ? choice.data : null
}

/** A base that completes a path. */
const NOWHERE = 'http://checkout.invalid'

const PARAMETERS = ['step', 'method', 'back'] as const

/** Returns the checkout unless the URL is one of this checkout's pages. */
export function ownPage(at: string, path: string): string {
  if (!URL.canParse(at, NOWHERE)) return path
  const { pathname, searchParams } = new URL(at, NOWHERE)
  if (pathname !== path) return pathname === `${path}/receipt` ? pathname : path
  const query = new URLSearchParams()
  for (const name of PARAMETERS) {
    const value = searchParams.get(name)
    if (value !== null) query.set(name, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}
