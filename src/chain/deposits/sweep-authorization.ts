import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { Authorization } from '../codec.ts'

/**
 * Returns the authorization of a sweep. It differs from a payout's: it goes from the deposit address to the treasury.
 */
export const createSweepAuthorization = (sweep: Sweep): Authorization => ({
  paymentId: sweep.paymentId,
  treasury: sweep.address,
  recipient: sweep.treasury,
  microUsdc: sweep.micro,
  authNonce: sweep.authNonce,
  signed: { kind: 'transfer', validBefore: sweep.validBefore, signature: sweep.signature },
})
