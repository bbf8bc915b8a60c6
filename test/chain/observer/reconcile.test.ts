import { describe, expect, test } from '@jest/globals'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { useFixture } from '../fixture.ts'
import { createMissedLogs } from './missed-logs.ts'

describe('payouts that somebody else carries', () => {
  const fixture = useFixture()
  const nodes = useHostileNodes(() => fixture.anvil.url)
  const { createRunner, state, attention, laterBy, missed } = createMissedLogs(fixture, nodes)
  const isPaused = async () => (await fixture.db.query('select pause from chain_cursor')).rows[0]?.pause !== null

  test('a payout whose logs two of three nodes hide is no theft, and settles once when they show them', async () => {
    const runner = createRunner()
    const queued = await missed(runner, nodes.slice(0, 2))
    expect(await isPaused()).toBe(false)
    for (const node of nodes) node.behave = () => 'honest'
    await fixture.chain.mine({ blocks: 4 })
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(fixture.hookCalls.settled.filter(({ ownerId }) => ownerId === queued.paymentId)).toHaveLength(1)
  })

  test('a used nonce whose logs no node shows is on the attention list until one does', async () => {
    const runner = createRunner()
    const queued = await missed(runner, nodes)
    laterBy(61)
    await runner.tick()
    expect(await attention()).toEqual([
      expect.objectContaining({ kind: 'used_without_log', subject: queued.paymentId }),
    ])
    // A difference at the payment's address has another cause.
    await fixture.db.query(`insert into settlement_finding select chain_id, token, 'deposit_difference', subject, 'more'
      from settlement_finding`)
    for (const node of nodes) node.behave = () => 'honest'
    for (let round = 0; round < 3; round++) {
      laterBy(61)
      await runner.tick()
    }
    expect(await state(queued)).toBe('settled')
    expect(await attention()).toEqual([expect.objectContaining({ kind: 'deposit_difference' })])
  })
})
