import type { ProviderName } from '../../domain/methods.ts'
import type { Asked, FailedCall } from '../../domain/partner/standing.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'
import { aroundCalls } from './calls.ts'

/** Finds out whether a partner works: by the calls that are made anyway, and by the platform's own question. */

type Reports = {
  readonly failed: (call: FailedCall) => Promise<void>
  /** Called when the partner accepted an order or declined it: it opens orders. */
  readonly opened: (provider: ProviderName) => Promise<void>
}

export function reportStanding(
  partners: Record<ProviderName, PaymentPartner>,
  { failed, opened }: Reports,
): Record<ProviderName, PaymentPartner> {
  return aroundCalls(partners, (provider) => async ({ name, attemptId }, ask) => {
    const isOpening = name === 'open'
    const answer = await ask().catch(async (error: unknown) => {
      if (error instanceof PartnerError && error.isWhole && attemptId !== null)
        await failed({ provider, attemptId, isOpening })
      throw error
    })
    if (isOpening) await opened(provider)
    return answer
  })
}

/** No payment has it. */
const UNUSED_ATTEMPT = { attemptId: 'att_00000000000000000000000000', reference: null }

/** Shorter than a payment's own calls can take. A partner that needs longer counts as silent. */
const QUESTION_MS = 5000

/** No buyer and no merchant influences this question: every partner knows that there is no such order. */
export async function askPartner(partner: PaymentPartner, withinMs = QUESTION_MS): Promise<Asked> {
  try {
    await partner.readOrder(UNUSED_ATTEMPT, AbortSignal.timeout(withinMs))
    return 'answered'
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error
    // Any other error is an answer, even if a strange one.
    if (!error.isWhole) return 'answered'
    return error.kind === 'misconfigured' ? 'refuses_us' : 'silent'
  }
}
