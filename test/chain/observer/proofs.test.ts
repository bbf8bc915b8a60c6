import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { sql } from '../../../src/db/db.ts'
import { acknowledgeTransfers } from '../../../src/db/settlement/operator.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { SignedPayout } from '../../../src/domain/settlement/payout.ts'
import { createWorld, newAddress, newKey, type Queued, TOKEN, type World } from '../world.ts'

/**
 * A transfer with the nonce of a payment proves its payout only if it went to the recipient, with the amount. Somebody
 * who has the key of the treasury can make others; the token then refuses ours.
 */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const signer = () =>
  createTreasurySigner(world.treasury, { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n })

async function signedPayout({ paymentId }: Queued): Promise<SignedPayout> {
  const [payout] = await readSigned(world.db, sql`p.payment_id = ${paymentId}`, 1)
  if (payout === undefined) throw new Error(`${paymentId} is not signed`)
  return payout
}

/** The treasury's key signs the payout with these changes, and a stranger carries it to the chain. */
async function carryChanged(payout: SignedPayout, changes: Partial<SignedPayout>): Promise<Hex> {
  const changed = { ...payout, ...changes }
  const signed = await signer().signTransfer(changed, 4_000_000_000)
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...changed, signed }])
  const stranger = privateKeyToAccount(newKey())
  await world.chain.setBalance({ address: stranger.address, value: parseEther('100') })
  const raw = await stranger.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: target,
    data: calldata,
    gas: 500_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  return world.chain.sendRawTransaction({ serializedTransaction: raw })
}

const thief = newAddress()
test.each<[string, (payout: SignedPayout) => Partial<SignedPayout>, bigint]>([
  ['to another recipient', () => ({ recipient: thief }), 0n],
  ['of less than was owed', ({ microUsdc }) => ({ microUsdc: (BigInt(microUsdc) - 1n).toString() }), -1n],
  ['of more than was owed', ({ microUsdc }) => ({ microUsdc: (BigInt(microUsdc) + 1n).toString() }), 1n],
])(
  'a final transfer with the nonce of the payment %s settles nothing and stops every lane',
  async (_how, change, more) => {
    const [queued] = await world.queue([{}])
    await world.runner({ options: { maxInFlight: 0 } }).tick()
    const payout = await signedPayout(queued!)
    const settled = world.heard.settled.length
    const hash = await carryChanged(payout, change(payout))
    await world.chain.mine({ blocks: 5 })
    const runner = world.runner({ options: { maxInFlight: 0 } })
    for (let round = 0; round < 3; round++) await runner.tick()

    expect((await world.payout(queued!.paymentId)).state).not.toBe('settled')
    expect(world.heard.settled).toHaveLength(settled)
    const { rows } = await world.db.query('select paused_reason from chain_cursor')
    expect(rows).toEqual([{ paused_reason: expect.stringContaining(hash) }])
    expect(world.heard.movements.at(-1)).toMatchObject({ direction: 'out', txHash: hash })
    const received = await world.balance(queued!.recipient)
    expect(received).toBe(_how === 'to another recipient' ? 0n : queued!.micro + more)

    // The operator has looked into it: new payouts are paid, this one still counts as unpaid.
    const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
    expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    const [next] = await world.queue([{}])
    await world.finalize(world.runner(), 3)
    expect((await world.payout(next!.paymentId)).state).toBe('settled')
    expect((await world.payout(queued!.paymentId)).state).not.toBe('settled')
    expect(await world.balance(queued!.recipient)).toBe(received)
  },
)
