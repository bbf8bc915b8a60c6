import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { Authorization } from '../codec.ts'

/** A sweep can only bring the money to the treasury, and only once: it need not expire. Unix seconds, year 2100. */
export const SWEEP_VALID_BEFORE = 4_102_444_800

/** A sweep as a batch carries it: like a payout, with the deposit address in the treasury's place. */
export const authorizationOf = (sweep: Sweep): Authorization => ({
  paymentId: sweep.paymentId,
  treasury: sweep.address,
  recipient: sweep.treasury,
  microUsdc: sweep.micro,
  authNonce: sweep.authNonce,
  signed: { kind: 'transfer', validBefore: SWEEP_VALID_BEFORE, signature: sweep.signature },
})
