import { z } from 'zod'
import type { ProviderName } from '../../domain/methods.ts'
import { send } from '../http.ts'
import { PartnerError } from '../provider.ts'

/** Returns the order's status if the order does not allow the action. */
export type SimulatedAct = (
  provider: ProviderName,
  attemptId: string,
  act: Readonly<Record<string, unknown>>,
) => Promise<{ readonly done: true } | { readonly done: false; readonly status: string }>

const TIMEOUT_MS = 5000

const refusal = z.object({ status: z.string() })

/** `url`: null for a real partner, which has no such routes. */
export function createSimulatedAct(partners: Record<ProviderName, { readonly url: string | null }>): SimulatedAct {
  return async (provider, attemptId, act) => {
    const { url } = partners[provider]
    if (url === null) return { done: false, status: 'of a real partner' }
    const call = {
      to: `the simulator of ${provider}`,
      method: 'POST',
      url: `${url}/sandbox/orders/${encodeURIComponent(attemptId)}/act`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(act),
    } as const
    const answer = await send(call, AbortSignal.timeout(TIMEOUT_MS))
    if (answer.status === 200) return { done: true }
    if (answer.status === 404) return { done: false, status: 'unknown' }
    if (answer.status === 409) return { done: false, status: refusal.parse(JSON.parse(answer.text)).status }
    throw new PartnerError('unknown', `${call.to}: HTTP ${answer.status}`)
  }
}
