import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import * as ledger from '../../src/domain/ledger.ts'
import { splitFee } from '../../src/domain/money.ts'

const amount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(String)

test('every booking balances in every asset, whatever the amounts', () => {
  fc.assert(
    fc.property(amount, amount, amount, (minor, grossAmount, filled) => {
      const fact = { paymentId: 'pay_1', attemptId: 'att_1', received: { minor, currency: 'EUR' as const } }
      const split = splitFee(grossAmount)
      const bookings = [
        ledger.fiatConfirmed(fact),
        ledger.fiatSuspended(fact),
        ledger.fiatGivenBack({ ...fact, from: 'merchant_payable' }),
        ledger.chargeback(fact),
        ledger.converted({ ...fact, ...split, filled }),
        ledger.refundedAfterVoid({ ...fact, ...split }),
        ledger.settled({ paymentId: 'pay_1', net: split.net }),
        ledger.toppedUp({ reference: 'x', micro: filled }),
        ledger.withdrawn({ reference: 'x', micro: filled }),
        ledger.gasSpent({ reference: 'x', wei: filled }),
      ]
      for (const booking of bookings) expect([booking.kind, ledger.imbalances(booking)]).toEqual([booking.kind, {}])
    }),
  )
})

test('an unbalanced booking is seen', () => {
  const wrong: ledger.Booking = {
    kind: 'settled',
    reference: 'x',
    paymentId: null,
    lines: [{ account: 'treasury', asset: 'USDC', amount: '1' }],
  }
  expect(ledger.imbalances(wrong)).toEqual({ USDC: '1' })
})
