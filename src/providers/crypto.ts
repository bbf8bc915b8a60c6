import { convertToMicroUsdc, type MicroUsdc } from '../domain/money.ts'
import type { PartnerOrder } from '../domain/payment/partner.ts'
import type { Deposit } from '../domain/settlement/deposit.ts'
import { receivedMoney, statusOfDeposit, transferLink } from '../domain/settlement/deposit.ts'
import type { Rate } from './converter/converter.ts'
import { PartnerError, type PaymentPartner } from './provider.ts'

/**
 * USDC that the buyer sends to an address of the payment, in the shape of a partner: an order is the address with its amount,
 * and what is read of it is what the final blocks of the chain show. Nobody can take an address back, so `cancelOrder` is
 * absent; nobody calls back either: the observer of the chain tells the payment.
 */

const NAME = 'crypto'

/** Whose account an order is at: the addresses are our own. */
export const CRYPTO_ACCOUNT = 'own addresses'

/** Where the addresses of payments and what came to them are kept. */
export type DepositBook = {
  /** Opened again for the same attempt, nothing changes. */
  readonly open: (deposit: {
    readonly attemptId: string
    readonly askedMicro: MicroUsdc
    readonly rate: Rate
    readonly expiresAt: number
  }) => Promise<void>
  readonly read: (attemptId: string) => Promise<Deposit | null>
}

export type CryptoSettings = {
  readonly deposits: DepositBook
  readonly rates: { readonly current: (currency: Rate['currency']) => Promise<Rate> }
  /** Whole percent of the asked amount that may be missing. */
  readonly tolerancePercent: number
  /** Unix milliseconds. */
  readonly clock: () => number
}

export function createCrypto({ deposits, rates, tolerancePercent, clock }: CryptoSettings): PaymentPartner {
  return {
    name: NAME,
    async openOrder({ attemptId, amount, method, returnUrl, expiresAt }) {
      if (method !== 'usdc') throw new PartnerError('misconfigured', `${NAME}: has no method ${method}`)
      const rate = await rates.current(amount.currency)
      await deposits.open({ attemptId, askedMicro: convertToMicroUsdc(amount, rate.rate), rate, expiresAt })
      const deposit = await deposits.read(attemptId)
      // The payment's one address belongs to an earlier attempt.
      if (deposit === null) return { kind: 'declined', failureCode: 'partner_unavailable' }
      const intentUri = transferLink({ ...deposit, micro: deposit.askedMicro })
      return { kind: 'opened', reference: deposit.address, redirectUrl: returnUrl, intentUri }
    },
    async readOrder({ attemptId }) {
      const deposit = await deposits.read(attemptId)
      return deposit === null ? null : orderOf(deposit, { now: Math.floor(clock() / 1000), tolerancePercent })
    },
    async readUsdc({ attemptId }) {
      const deposit = await deposits.read(attemptId)
      if (deposit === null) return null
      const { rate, rateSource: source, rateAsOf: asOf } = deposit
      return {
        rate: { currency: deposit.asked.currency, rate, source, asOf },
        micro: deposit.receivedMicro,
        address: deposit.address,
      }
    },
    readCallback: () => ({ kind: 'refused', reason: 'format' }),
  }
}

function orderOf(deposit: Deposit, at: { now: number; tolerancePercent: number }): PartnerOrder {
  return {
    attemptId: deposit.attemptId,
    reference: deposit.address,
    account: CRYPTO_ACCOUNT,
    status: statusOfDeposit(deposit, at),
    amount: deposit.asked,
    received: deposit.receivedMicro === '0' ? null : receivedMoney(deposit),
    failureCode: null,
  }
}
