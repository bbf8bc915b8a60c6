import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { PaymentDeps } from '../../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { PartnerError } from '../../../../src/providers/provider.ts'
import { createMoneyWorld, type Made, type MoneyWorld } from '../money-world.ts'
import { perform } from '../world.ts'

/** Money came when there was no current rate: the conversion locks one, of the currency that the buyer was charged in. */

const NO_RATES: Pick<PaymentDeps, 'rates'> = {
  rates: { current: () => Promise.reject(new PartnerError('unknown', 'every rate is old')) },
}

let world: MoneyWorld
let made: Made
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  made = await world.opened()
  await world.act(made.attemptId, { action: 'pay', receivedMinor: '10000' })
  await world.read(made, NO_RATES)
  expect(await world.payment(made.id)).toMatchObject({ status: 'processing', rate: null })
})

const convert = (changes: Partial<PaymentDeps>) =>
  perform(world.activities(changes).convertToUsdc, { paymentId: made.id, last: false })
const yen = { minor: '10000', currency: 'JPY' } as const

// One yen's rate was locked for euros. The converter refused it for ever, and near a fill it would have been paid out by.
test('an order that the partner names in another currency by then is converted at the rate of what was paid', async () => {
  const told: Partial<PartnerOrder> = { amount: yen, received: yen }
  await convert(world.says(told))
  expect(await world.payment(made.id)).toMatchObject({ status: 'processing', rate: { rate: '1.08' } })
})

test('a partner that does not answer keeps no rate from being locked', async () => {
  const silent = {
    ...world.deps.partners.wallet_app,
    readOrder: () => Promise.reject(new PartnerError('unknown', 'no answer')),
  }
  await convert({ partners: { ...world.deps.partners, wallet_app: silent } })
  expect(await world.payment(made.id)).toMatchObject({ rate: { rate: '1.08' } })
})
