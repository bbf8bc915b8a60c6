import type { Request, Response } from 'express'
import { z } from 'zod'
import { readPaymentByToken } from '../../../db/payments/payments.ts'
import { isCountry } from '../../../domain/countries.ts'
import type { ProviderUsed } from '../../../domain/methods.ts'
import type { Checkout } from '../../../web/checkout/checkout.ts'
import { BAR_ACTIONS, BAR_SKIPS } from '../../../web/checkout/sandbox.ts'
import { LOCALES } from '../../../web/messages/locales.ts'
import { Problem } from '../../http/problems.ts'
import { countryCookie, DEVICES, deviceCookie, downCookie, languageCookie } from '../buyer.ts'
import { PageProblem } from '../page-problem.ts'
import { type SimulateDeps, simulateOutcome } from '../v1/payments/simulate-outcome.ts'
import { skipPaymentTime } from '../v1/payments/skip-time.ts'
import { parseForm } from './forms.ts'

/** Anybody with the link of a test payment can act as its partner and its buyer. A live payment has no bar. */

const barForm = z.union([
  z.object({ do: z.enum(BAR_ACTIONS) }),
  z.object({ skip: z.enum(BAR_SKIPS.map(String) as [string, ...string[]]) }),
  z.object({
    country: z.union([z.literal(''), z.string().refine(isCountry)]),
    device: z.union([z.literal(''), z.enum(DEVICES)]),
    language: z.enum(LOCALES),
  }),
])
type BarAction = z.output<typeof barForm>

/** Returns why the action was not possible, for the developer. Null if it was done. */
export async function playOnBar(
  simulating: SimulateDeps | null,
  { request, response, checkout }: { request: Request; response: Response; checkout: Checkout },
): Promise<{ status: number; note: string } | null> {
  const wanted = parseForm(barForm, request)
  if (simulating === null || checkout.sandbox === null) throw new PageProblem('not_found')
  if ('country' in wanted) {
    setBuyer(response, checkout, wanted)
    return null
  }
  if ('do' in wanted && wanted.do === 'partner_down') {
    response.append('set-cookie', downCookie(checkout.sandbox.isDown ? '' : shownPartner(checkout), checkout.url))
    return null
  }
  try {
    await play(simulating, checkout, wanted)
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { status: error.code === 'not_possible_now' ? 409 : 503, note: error.message }
  }
}

function setBuyer(
  response: Response,
  { url }: Checkout,
  { country, device, language }: Extract<BarAction, { country: string }>,
): void {
  for (const cookie of [countryCookie(country, url), deviceCookie(device, url), languageCookie(language, url)])
    response.append('set-cookie', cookie)
}

async function play(
  simulating: SimulateDeps,
  { payment }: Checkout,
  wanted: Exclude<BarAction, { country: string }>,
): Promise<void> {
  if ('skip' in wanted) return skipPaymentTime(simulating, payment.id, Number(wanted.skip))
  const read = async () => {
    const found = await readPaymentByToken(simulating.db, payment.checkoutToken)
    if (found === null) throw new PageProblem('not_found')
    return found
  }
  if (wanted.do !== 'partner_down') await simulateOutcome(simulating, read, { action: wanted.do })
}

/** The partner of the pin, else of the first offer. */
function shownPartner({ payment, offered }: Checkout): ProviderUsed {
  return payment.provider ?? offered.offers[0]?.provider ?? 'card_partner'
}
