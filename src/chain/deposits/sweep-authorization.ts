import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { Authorization } from '../codec.ts'

/**
 * Returns the authorization of a sweep. It differs from a payout's: it goes from the deposit address to the treasury, or
 * back to a merchant. A funding goes from a merchant's wallet to the address.
 */
export const createSweepAuthorization = (sweep: Sweep, isFunding = false): Authorization => ({
  ownerId: sweep.ownerId,
  treasury: sweep.sender,
  recipient: sweep.recipient,
  microUsdc: sweep.micro,
  authNonce: sweep.authNonce,
  ...(isFunding && { isForeign: true }),
  signed: { kind: 'transfer', validBefore: sweep.validBefore, signature: sweep.signature },
})
