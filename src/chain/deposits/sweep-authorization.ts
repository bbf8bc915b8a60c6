import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { Authorization } from '../codec.ts'

/** Unix seconds, in the year 2100. A sweep need not expire: it can only pay the treasury, and only once. */
export const SWEEP_VALID_BEFORE = 4_102_444_800

/** The authorization of a sweep: as a payout's, but from the deposit address to the treasury. */
export const authorizationOf = (sweep: Sweep): Authorization => ({
  paymentId: sweep.paymentId,
  treasury: sweep.address,
  recipient: sweep.treasury,
  microUsdc: sweep.micro,
  authNonce: sweep.authNonce,
  signed: { kind: 'transfer', validBefore: SWEEP_VALID_BEFORE, signature: sweep.signature },
})
