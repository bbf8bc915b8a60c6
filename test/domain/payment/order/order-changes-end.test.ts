import { describe, expect, test } from '@jest/globals'
import { dustOf, partOfPrice } from '../../../../src/domain/payment/order-changes.ts'
import { attempt, part, stateOf } from '../decided-payment.ts'

/** What is left of the money of a payment that ends, or that nobody waits for any more. */

const AT = '2026-01-01T12:00:00.000Z'
describe('a part of the price that is not the payment’s money yet', () => {
  const some = part({ units: '2000', chargeMinor: '2000', attemptId: 'att_2' })
  const attempts = [attempt({ status: 'open' }), attempt({ id: 'att_2', status: 'open', provider: 'crypto' })]
  const waits = (parts = [some]) => stateOf({ status: 'pending' }, { attempts, parts })

  test('is too little money of its attempt once it is taken, and the conversion locks the rate', () => {
    const found = partOfPrice(waits())
    expect(found?.attempt.id).toBe('att_2')
    expect(found?.fields(AT)).toEqual({
      paidAttemptId: 'att_2',
      providerUsed: 'crypto',
      methodUsed: 'banking_app',
      chargeCurrency: 'EUR',
      confirmedMinor: '2000',
      paidAt: AT,
      exception: 'underpaid',
      parkReason: 'underpaid',
      statusReason: 'underpaid',
    })
  })

  test('is none where nothing is counted, where that is worth nothing, or where the payment has money', () => {
    expect(partOfPrice(waits([]))).toBeNull()
    expect(partOfPrice(waits([{ ...some, state: 'surplus' }]))).toBeNull()
    expect(partOfPrice(waits([{ ...some, units: '9', chargeMinor: '0' }]))).toBeNull()
    expect(partOfPrice(stateOf({ paidAttemptId: 'att_1' }, { attempts, parts: [part({}), some] }))).toBeNull()
  })

  test('and is worth less than the smallest unit of the price is ours at the end', () => {
    const dust = part({ key: 'a', asset: 'USDC', units: '9', chargeMinor: '0' })
    const kept = dustOf(stateOf({ status: 'expired' }, { attempts, parts: [dust] }))
    expect(kept.map((one) => [one.kind, one.units])).toEqual([['kept', '-9']])
    expect(dustOf(stateOf({ paidAttemptId: 'att_1' }, { attempts, parts: [dust] }))).toEqual([])
  })
})
