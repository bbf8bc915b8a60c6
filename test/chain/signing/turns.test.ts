import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { createWorld, type Queued, TOKEN, type World } from '../world.ts'

/** Two engines that sign in turn, while the first of them waits for the balance of the treasury. */

const BALANCE = 100_000_000n
const MOST_OF_IT = 90_000_000n

let world: World
beforeEach(async () => {
  world = await createWorld({ micro: BALANCE })
})
afterEach(() => world.stop())

/** Nodes that say what the balance is, and then nothing until `meanwhile` is over. */
function slowBalance(meanwhile: () => Promise<void>): Rpc {
  const rpc = connectRpc({ urls: [world.anvil.url], quorum: 1, chainId: TOKEN.chainId })
  return {
    ...rpc,
    async demand(what, read) {
      const answer = await rpc.demand(what, read)
      if (what === 'what the state of token and treasury is') await meanwhile()
      return answer
    },
  }
}

const signatures = async ({ paymentId }: Queued): Promise<number> => {
  const { rows } = await world.db.query('select from payout_signature where payment_id = $1', [paymentId])
  return rows.length
}

// it was signed for again: settled it was promised no more, and it was in the balance of the block before
test('what is settled while the balance is read is not promised to the next payout', async () => {
  const other = world.runner()
  const [first] = await world.queue([{ micro: MOST_OF_IT }])
  await other.tick()
  const [second] = await world.queue([{ micro: MOST_OF_IT }])
  const rpc = slowBalance(async () => {
    await world.chain.mine({ blocks: 4 })
    // Nobody else signs: this lease is not over.
    await world.db.query(`update chain_cursor set lease_until = '-infinity'`)
    await world.runner({ relayers: [] }).tick()
    await world.runner({ relayers: [] }).tick()
    expect((await world.payout(first!.paymentId)).state).toBe('settled')
  })
  await world.runner({ rpc, options: { leaseMs: 60_000 } }).tick()
  expect(await signatures(second!)).toBe(0)
})

// both were signed for
test('an engine whose right to sign was another one’s meanwhile signs nothing of what it chose', async () => {
  const [first] = await world.queue([{ micro: MOST_OF_IT }])
  let second: Queued | undefined
  const rpc = slowBalance(async () => {
    await world.db.query(`update payout set state = 'held', hold_reason = 'refused' where payment_id = $1`, [
      first!.paymentId,
    ])
    ;[second] = await world.queue([{ micro: MOST_OF_IT }])
    // Its lease is over, and that of the other one is over too when it comes back.
    await world.runner({ relayers: [] }).tick()
    expect(await signatures(second!)).toBe(1)
    await world.db.query(`update payout set state = 'queued', hold_reason = null where payment_id = $1`, [
      first!.paymentId,
    ])
  })
  await world.runner({ rpc, relayers: [] }).tick()
  expect(await signatures(first!)).toBe(0)
  expect((await world.payout(first!.paymentId)).state).toBe('queued')
})
