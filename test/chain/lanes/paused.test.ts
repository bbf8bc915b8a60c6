import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { accountOf } from '../../../src/chain/keys/private-key.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { createWorld, newKey, TOKEN, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ relayers: 2 })
})
afterAll(() => world.stop())

const POL = 10n ** 18n

/** The last that a round reads before it takes the lanes: from then on everything is paused. */
function pausing(): Rpc {
  const rpc = connectRpc({ urls: [world.anvil.url], quorum: 1, chainId: TOKEN.chainId })
  return {
    ...rpc,
    async fees(blocks) {
      const fees = await rpc.fees(blocks)
      await world.db.query(`update chain_cursor set paused_reason = 'an unknown transfer'`)
      return fees
    },
  }
}

const sent = async (): Promise<number> => (await world.db.query('select from lane_tx')).rows.length

// the round that had begun sent whatever was signed
test('a pause also stops the round that has begun: it sends neither payouts nor gas money', async () => {
  const funding = { account: accountOf(newKey()), wei: 20n * POL, maxWeiPerDay: 120n * POL }
  await world.chain.setBalance({ address: funding.account.address, value: 1000n * POL })
  await world.chain.setBalance({ address: world.relayers[1]!.address, value: 1n })
  const [queued] = await world.queue([{}])
  await world.runner({ options: { maxInFlight: 0 } }).tick()
  await world.runner({ rpc: pausing(), funding }).tick()
  expect(await sent()).toBe(0)
  expect((await world.payout(queued!.paymentId)).state).toBe('authorized')
  await world.db.query('update chain_cursor set paused_reason = null')
  await world.finalize(world.runner({ funding }))
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  // One batch and one transfer of gas money.
  expect(await sent()).toBe(2)
})
