import { expect, test } from '@jest/globals'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { type Queued, TOKEN, useFixture } from '../fixture.ts'
import { carryWithNoise } from '../rpc/strangers.ts'
import { createIssuer, readPaymentReceipt, signedPayout, verifyStored } from './receipted.ts'

const fixture = useFixture()

// For a quarter of a dollar it could not be verified any more.
test('a payout that a stranger carries with as many logs as a transaction can have has a receipt that verifies', async () => {
  const [{ paymentId }] = (await fixture.queue([{}])) as [Queued]
  const payout = await signedPayout(fixture, paymentId)
  await carryWithNoise(fixture, [multicallCodec.encode(TOKEN.address, [payout]).calldata])
  await fixture.finalize(fixture.runner(), 3)
  expect(await createIssuer(fixture)()).toBe(1)
  expect(JSON.stringify(await readPaymentReceipt(fixture, paymentId)).length).toBeGreaterThan(4_000_000)
  expect((await verifyStored(fixture, paymentId)).checks.filter(({ result }) => result === 'fails')).toEqual([])
}, 60_000)
