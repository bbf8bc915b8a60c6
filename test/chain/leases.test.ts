import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { createWorld, TOKEN, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

const LEASE_MS = 900

/** Waits until a lease lasts longer than it did by more than its own time: it was renewed meanwhile. */
async function outlast(table: 'chain_cursor' | 'lane'): Promise<void> {
  const until = async (): Promise<number> => {
    const { rows } = await world.db.query(`select lease_until from ${table}`)
    return (rows[0] as { lease_until: Date }).lease_until.getTime()
  }
  const before = await until()
  const deadline = Date.now() + 10_000
  while ((await until()) < before + LEASE_MS) if (Date.now() > deadline) throw new Error('the lease was not renewed')
}

const journalOfOther = () => {
  const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
  return createSettlementJournal({ db: world.db, scope, hooks: world.hooks })
}
const ask = { owner: 'another engine', leaseMs: LEASE_MS }

test('the lease of the observer is renewed while a round takes long: no other engine takes over in between', async () => {
  const taken: unknown[] = []
  const runner = world.runner({
    options: { leaseMs: LEASE_MS, owner: 'this engine' },
    hooks: {
      onSettled: async () => {
        await outlast('chain_cursor')
        taken.push(await journalOfOther().leaseObserver({ ...ask, start: { number: 0, hash: `0x${'0'.repeat(64)}` } }))
      },
    },
  })
  const [queued] = await world.queue([{}])
  await world.finalize(runner)
  expect(taken).toEqual([null])
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
})

test('the lease of a lane is renewed while its key takes long to sign', async () => {
  const taken: unknown[] = []
  const [account] = world.relayers
  const slow: LocalAccount = {
    ...account!,
    async signTransaction(transaction, options) {
      await outlast('lane')
      taken.push(
        await journalOfOther().leaseLane(account!.address.toLowerCase() as `0x${string}`, { ...ask, firstNonce: 0 }),
      )
      return account!.signTransaction(transaction, options)
    },
  }
  const runner = world.runner({ options: { leaseMs: LEASE_MS, owner: 'this engine' }, relayers: [slow] })
  const [queued] = await world.queue([{}])
  await world.finalize(runner)
  expect(taken).toEqual([null])
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
})
