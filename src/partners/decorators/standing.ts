import type { ProviderName } from '../../domain/methods.ts'
import type { Asked, FailedCall } from '../../domain/partner/standing.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'
import { aroundCalls } from './calls.ts'

/** Finds out if a partner works: from the calls of payments, and from a call that only tests the partner. */

type Reports = {
  readonly failed: (call: FailedCall) => Promise<void>
  /** Called when the partner has accepted or declined an order, which shows that it opens orders. */
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

/** An id that no payment uses. */
const UNUSED_ATTEMPT = { attemptId: 'att_00000000000000000000000000', reference: null }

/** Shorter than the timeout of a payment's calls. A partner that takes longer counts as silent. */
const QUESTION_MS = 5000

/** Reads an order that no partner has, so that no buyer or merchant can influence the answer. */
export async function askPartner(partner: PaymentPartner, withinMs = QUESTION_MS): Promise<Asked> {
  try {
    await partner.readOrder(UNUSED_ATTEMPT, AbortSignal.timeout(withinMs))
    return 'answered'
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error
    // Any other error shows that the partner responds.
    if (!error.isWhole) return 'answered'
    return error.kind === 'misconfigured' ? 'refuses_us' : 'silent'
  }
}
