import { convertToMicroUsdc, type MicroUsdc } from '../domain/money.ts'
import type { PartnerOrder } from '../domain/payment/partner.ts'
import type { Deposit } from '../domain/settlement/deposit.ts'
import { getDepositStatus, receivedMoney, transferLink } from '../domain/settlement/deposit.ts'
import type { Rate } from './converter/converter.ts'
import { PartnerError, type PaymentPartner } from './provider.ts'

/**
 * USDC that the buyer sends to an address of the payment. An address cannot be taken back, so `cancelOrder` is absent.
 * There are no callbacks: the observer of the chain notifies the payment.
 */

const NAME = 'crypto'

export const CRYPTO_ACCOUNT = 'own addresses'

export type DepositBook = {
  /** Idempotent for each attempt. */
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
  /** Whole percent of the asked amount that can be missing before a payment counts as underpaid. */
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
      // A payment has only one address, and an earlier attempt has it.
      if (deposit === null) return { kind: 'declined', failureCode: 'partner_unavailable' }
      const intentUri = transferLink({ ...deposit, micro: deposit.askedMicro })
      return { kind: 'opened', reference: deposit.address, redirectUrl: returnUrl, intentUri }
    },
    async readOrder({ attemptId }) {
      const deposit = await deposits.read(attemptId)
      return deposit === null ? null : toOrder(deposit, { now: Math.floor(clock() / 1000), tolerancePercent })
    },
  }
}

function toOrder(deposit: Deposit, at: { now: number; tolerancePercent: number }): PartnerOrder {
  return {
    attemptId: deposit.attemptId,
    reference: deposit.address,
    account: CRYPTO_ACCOUNT,
    status: getDepositStatus(deposit, at),
    amount: deposit.asked,
    received: deposit.receivedMicro === '0' ? null : receivedMoney(deposit),
    failureCode: null,
    usdc: {
      receipts: deposit.receipts,
      askedMicro: deposit.askedMicro,
      rate: { rate: deposit.rate, source: deposit.rateSource, asOf: deposit.rateAsOf },
    },
  }
}
