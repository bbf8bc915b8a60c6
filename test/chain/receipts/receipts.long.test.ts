import { expect, test } from '@jest/globals'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { carryWithNoise } from '../rpc/strangers.ts'
import { type Queued, TOKEN, useWorld } from '../world.ts'
import { issuerOf, readPaymentReceipt, signedPayout, verifyStored } from './receipted.ts'

const world = useWorld()

// For a quarter of a dollar it could not be verified any more.
test('a payout that a stranger carries with as many logs as a transaction can have has a receipt that verifies', async () => {
  const [{ paymentId }] = (await world.queue([{}])) as [Queued]
  const payout = await signedPayout(world, paymentId)
  await carryWithNoise(world, [multicallCodec.encode(TOKEN.address, [payout]).calldata])
  await world.finalize(world.runner(), 3)
  expect(await issuerOf(world)()).toBe(1)
  expect(JSON.stringify(await readPaymentReceipt(world, paymentId)).length).toBeGreaterThan(4_000_000)
  expect((await verifyStored(world, paymentId)).checks.filter(({ result }) => result === 'fails')).toEqual([])
}, 60_000)
