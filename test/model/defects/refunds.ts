import type { Account } from '../../../src/domain/payment/funds/account.ts'
import type { Funds, getLoss, getShortage } from '../../../src/domain/payment/funds/funds.ts'
import type { findMoneyStep } from '../../../src/domain/payment/funds/money-step.ts'
import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import type { getPayoutMicro } from '../../../src/domain/payment/reserve.ts'
import type { Refund, treasuryShare } from '../../../src/domain/refund/refund.ts'
import type { decideRefundStep } from '../../../src/domain/refund/refund-step.ts'
import { ANSWER, type Defect, FUNDS, MONEY_STEP, neverAsked, neverDone, plant } from './defect.ts'

/** Bugs of money that leaves: a partner reverses it, or it is given back. */
export const REFUND_DEFECTS: readonly Defect[] = [
  {
    name: 'a loss is seen by nobody',
    caughtBy: 'the partner takes the money back after the payout',
    ...neverAsked('loss'),
  },
  {
    name: 'what the buyer was given back twice is no loss',
    caughtBy: 'what the partner takes back in part of money that was returned from elsewhere is booked, and seen',
    file: FUNDS,
    seam: 'getLoss',
    plant: plant<typeof getLoss>((real) => (funds, account) => real(funds, { ...account, outside: 0n })),
  },
  {
    name: 'a payout is not voided when its money has gone',
    caughtBy: 'the payout of a changed order that has less money is voided when all goes back',
    ...neverDone('void', { do: 'await_payout' }),
  },
  {
    name: 'what was returned from elsewhere goes back through the partner too',
    caughtBy: 'money that was returned from elsewhere does not go back through its partner as well',
    file: ANSWER,
    seam: 'givenByPartner',
    plant: plant<(funds: unknown, account: Account) => Account>(
      () => (_funds, account) => (account.held > 0n ? { ...account, back: 'wanted' } : account),
    ),
  },
  {
    name: 'what was returned from elsewhere is asked about again',
    caughtBy: 'a callback that comes again after a refund outside brings no new money',
    file: ANSWER,
    seam: 'givenOutside',
    plant: plant<(funds: unknown, account: Account) => Account>((real) => (funds, account) => ({
      ...real(funds, account),
      outside: account.outside,
    })),
  },
  {
    name: 'a give-back is decided, and its partner is never asked',
    caughtBy: 'an operator approves a payment during a slow refund',
    file: 'src/activities/payment/give-back.ts',
    seam: 'callRefund',
    plant: plant<(deps: unknown, attempt: Attempt) => Promise<unknown>>(() => async () => ({ kind: 'pending' })),
  },
  {
    name: 'the partner is asked to give back while the payout may be paid',
    caughtBy: 'money whose payout is on its way is not given back when the transfer is faster than the void',
    file: MONEY_STEP,
    seam: 'findMoneyStep',
    plant: plant<typeof findMoneyStep>((real) => (funds) => {
      const wanted = funds.accounts.find(({ back }) => back === 'wanted')
      return wanted === undefined ? real(funds) : { do: 'give_back', accountId: wanted.id }
    }),
  },
  {
    name: 'the treasury takes the USDC of a refund that failed',
    caughtBy: 'a refund that the partner refuses fails, and the USDC goes back',
    file: 'src/domain/refund/refund.ts',
    seam: 'treasuryShare',
    plant: plant<typeof treasuryShare>((real) => (refund) => real({ ...refund, status: 'succeeded' })),
  },
  {
    name: 'a refund takes all USDC that arrived for it',
    caughtBy: 'what is too much for a refund goes back',
    file: 'src/domain/refund/refund-change.ts',
    seam: 'takeFunds',
    plant: plant<(refund: Refund) => unknown>(
      (real) => (refund) => real({ ...refund, requiredMicro: refund.receivedMicro }),
    ),
  },
  {
    name: 'each try asks the partner for another refund',
    caughtBy: 'a refund whose answer is lost is asked for again under its key',
    file: 'src/activities/refund/ask-refund.ts',
    seam: 'callPartner',
    plant: plant<(deps: unknown, refund: Refund) => unknown>((real) => {
      let tries = 0
      return (deps, refund) => real(deps, { ...refund, partnerKey: `${refund.id}${++tries}` })
    }),
  },
  {
    name: 'what a refund has given to the buyer is lost',
    caughtBy: 'a partial refund that is paid for by a transfer leaves the rest refundable',
    file: FUNDS,
    seam: 'getShortage',
    plant: plant<typeof getShortage>(
      (real) => (funds, account) => real(funds, { ...account, refunded: 0n, refunding: 0n }),
    ),
  },
  {
    name: 'a payout pays what is deducted of it',
    caughtBy: 'a payout pays for a refund of another payment, and the refund has what the payout lacks',
    file: 'src/domain/payment/reserve.ts',
    seam: 'getPayoutMicro',
    plant: plant<typeof getPayoutMicro>((real) => (payment) => real({ ...payment, deduction: null })),
  },
  {
    name: 'what a payout lacks is nowhere in the books',
    caughtBy: 'a payout pays for a refund of another payment, and the refund has what the payout lacks',
    file: 'src/domain/payment/funds/positions.ts',
    seam: 'putSale',
    plant: plant<(put: unknown, funds: Funds, sale: unknown) => void>(
      (real) => (put, funds, sale) => real(put, { ...funds, isDeductionReleased: true }, sale),
    ),
  },
  {
    name: 'a refund without its USDC never ends',
    caughtBy: 'a refund with too little USDC expires, and the USDC goes back',
    file: 'src/domain/refund/refund-step.ts',
    seam: 'decideRefundStep',
    plant: plant<typeof decideRefundStep>((real) => (refund, clock) => {
      const step = real(refund, clock)
      return step.do === 'expire' ? { do: 'wait', until: clock.now + 3_600_000 } : step
    }),
  },
]
