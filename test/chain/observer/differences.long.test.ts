import { afterEach, describe, expect, test } from '@jest/globals'
import { readBalances } from '../../../src/db/ledger.ts'
import { repairFinality } from '../../../src/operator/repair.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { startHostileNode } from '../../support/hostile-node.ts'
import { reorganize } from '../deposits/reversal.ts'
import { createSettings, type RunnerChanges, useFixture } from '../fixture.ts'
import { BOOKS } from './books.ts'

const LIMITS = { maxMicroPerPayout: 25_000_000_000n, maxMicroPerDay: 10n ** 15n, fillTolerancePercent: 2 }

const BUSY = { error: { code: -32000, message: 'busy' } }
const withoutLogs = ({ method }: { method: string }) => (method === 'eth_getLogs' ? BUSY : 'honest')

describe('the books of the treasury', () => {
  const fixture = useFixture({ relayers: 2 })
  afterEach(() => fixture.reset())
  const runner = (changes: RunnerChanges = {}) =>
    fixture.runner({
      ...changes,
      hooks: BOOKS,
      options: { limits: LIMITS, ...changes.options },
    })
  const pause = async () => (await fixture.db.query('select pause from chain_cursor')).rows[0].pause as string | null
  const treasury = async () => (await readBalances(fixture.db)).find(({ account }) => account === 'treasury')?.amount
  const held = async () => (await fixture.balance(fixture.treasury.address)).toString()
  const operation = () => ({
    db: fixture.db,
    hooks: { ...fixture.hooks, ...BOOKS },
    settings: createSettings(fixture),
    dryRun: false,
    say: () => undefined,
  })

  for (const blocks of [16, 96])
    test(`the treasury’s books match after a payout of a replaced block is paid again ${blocks} blocks later, because gas was too expensive`, async () => {
      const engine = runner()
      await fixture.finalize(engine, 4)
      const [queued] = await fixture.queue([{ micro: 5_000_000n }])
      await engine.tick()
      await fixture.chain.mine({ blocks: 3 })
      await engine.tick()
      expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
      await reorganize(fixture, 4, [])
      await engine.tick().catch(() => undefined)
      await repairFinality(operation())
      expect((await fixture.payout(queued!.paymentId)).state).not.toBe('settled')
      const dear = runner({ options: { maxFeeWei: 1n } })
      for (let left = blocks; left > 0; left -= 8) {
        await fixture.chain.mine({ blocks: 8 })
        await dear.tick().catch(() => undefined)
      }
      await fixture.finalize(runner(), 6)
      expect((await fixture.payout(queued!.paymentId)).state).toBe('settled')
      expect(await pause()).toBeNull()
      expect(await treasury()).toBe(await held())
    })

  test('the treasury’s books match after a top-up whose log was hidden was booked in two parts', async () => {
    const node = await startHostileNode(fixture.anvil.url)
    try {
      const engine = runner({ url: node.url })
      await fixture.finalize(engine, 4)
      node.behave = withoutLogs
      await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 100_000_000n })
      await fixture.queue([{ micro: 40_000_000n }])
      await engine.tick().catch(() => undefined)
      await fixture.chain.mine({ blocks: 3 })
      // For one round no receipt is shown either.
      node.behave = ({ method }) => (method === 'eth_getTransactionReceipt' ? BUSY : withoutLogs({ method }))
      await engine.tick().catch(() => undefined)
      node.behave = withoutLogs
      for (let round = 0; round < 24; round++) {
        await fixture.chain.mine({ blocks: 8 })
        await engine.tick().catch(() => undefined)
      }
      node.behave = () => 'honest'
      await fixture.finalize(runner(), 6)
      await fixture.chain.mine({ blocks: 300 })
      await fixture.finalize(runner(), 3)
      expect(await pause()).toBeNull()
      expect(await treasury()).toBe(await held())
    } finally {
      await node.close()
    }
  })
})
