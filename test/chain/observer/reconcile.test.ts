import { describe, expect, test } from '@jest/globals'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { useWorld } from '../world.ts'
import { createMissedLogs } from './missed-logs.ts'

describe('logs that nodes did not show', () => {
  const world = useWorld()
  const nodes = useHostileNodes(() => world.anvil.url)
  const { createRunner, state, attention, laterBy, missed } = createMissedLogs(world, nodes)

  test('two of three nodes answer [] once for a final block: the second reading finds what was there', async () => {
    const runner = createRunner()
    const queued = await missed(runner, nodes.slice(0, 2))
    for (const node of nodes) node.behave = () => 'honest'
    await world.chain.mine({ blocks: 20 })
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(world.heard.settled.filter(({ paymentId }) => paymentId === queued.paymentId)).toHaveLength(1)
  })

  test('an envelope that ended by its receipt before its logs were read counts nothing as refused', async () => {
    const runner = createRunner()
    const queued = await missed(runner, nodes.slice(0, 2))
    await world.chain.mine({ blocks: 4 })
    await runner.tick()
    const { rows } = await world.db.query(
      `select t.state, i.outcome, p.refusals from lane_tx_item i join lane_tx t using (chain_id, wallet, nonce)
       join payout p using (payment_id) where i.payment_id = $1`,
      [queued.paymentId],
    )
    expect(rows).toEqual([{ state: 'finalized', outcome: null, refusals: 0 }])
    for (const node of nodes) node.behave = () => 'honest'
    await world.chain.mine({ blocks: 20 })
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
  })

  test('two of three nodes have lost the logs of a block: within a minute the third one shows where to look', async () => {
    const runner = createRunner()
    const queued = await missed(runner, nodes.slice(0, 2))
    laterBy(61)
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(await attention()).toEqual([])
  })
})
