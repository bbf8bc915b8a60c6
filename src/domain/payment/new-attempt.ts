import { PROVIDERS } from '../methods.ts'
import type { Attempt } from './payment-object.ts'

export type NewAttempt = Pick<Attempt, 'id' | 'provider' | 'method' | 'asked'>

export const createAttempt = (paymentId: string, { id, provider, method, asked }: NewAttempt, at: string): Attempt => ({
  ...NOTHING_YET,
  id,
  provider,
  method,
  asked,
  paymentId,
  silentAfterHours: PROVIDERS[provider].listenHours,
  createdAt: at,
  updatedAt: at,
})

/** An attempt whose partner has not been asked yet. */
export const NOTHING_YET: Omit<
  Attempt,
  keyof NewAttempt | 'paymentId' | 'silentAfterHours' | 'createdAt' | 'updatedAt'
> = {
  status: 'opening',
  askedMicro: null,
  held: '0',
  outside: '0',
  writtenOff: '0',
  refunded: '0',
  refunding: '0',
  misfit: null,
  misfitAnswer: 'none',
  back: 'no',
  returned: false,
  refusals: 0,
  cancelAsked: false,
  silent: false,
  rate: null,
  paidAt: null,
  confirmedAt: null,
  partnerReference: null,
  partnerPayments: [],
  partnerDisputes: [],
  redirectUrl: null,
  intentUri: null,
  failureCode: null,
  revision: 1,
}
