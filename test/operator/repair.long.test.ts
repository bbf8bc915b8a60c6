import { beforeAll, describe, expect, test } from '@jest/globals'
import { type Hex, parseEther } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { acknowledgeTransfers } from '../../src/db/settlement/operator.ts'
import { acknowledge } from '../../src/operator/payouts.ts'
import { repairFinality } from '../../src/operator/repair.ts'
import { mintUsdc, usdcAdminAbi } from '../../src/sandbox/chain.ts'
import { newAddress, type Queued, TOKEN, useFixture } from '../chain/fixture.ts'
import { createOperations, createReversals } from './operations.ts'

const fixture = useFixture()

const { said, operation } = createOperations(fixture)

describe('The repair of finality', () => {
  const { state, paused, reorganize, settle } = createReversals(fixture)
  // Reversals remove only payouts, and nothing that the fixture begins with.
  beforeAll(async () => {
    await fixture.reset()
    await fixture.chain.mine({ blocks: 20 })
  })

  // It said that the lanes continue, and for a round they did, on two chains.
  test('the pause of a replaced block is not ended by acknowledging a transaction that is not unknown', async () => {
    const { raw, depth } = await settle()
    await reorganize(depth, [[raw, 1]])
    await fixture.chain.mine({ blocks: 3 })
    await fixture.runner().tick()
    expect(await acknowledge(operation(), `0x${'1'.repeat(64)}`)).toBe(1)
    expect(said.at(-1)).toMatch(/^nothing changed/)
    expect(await paused()).toMatch(/^finalized block/)
    expect(await repairFinality(operation())).toBe(0)
    expect(await paused()).toBeNull()
  })

  test('a payout that the new chain also has, in another block, is not sent again', async () => {
    const { queued, raw, depth } = await settle()
    const sent = async () => (await fixture.db.query('select count(*)::int as n from lane_tx')).rows[0]
    const before = await sent()
    await reorganize(depth, [[raw, 1]])
    await fixture.chain.mine({ blocks: 3 })
    expect(await fixture.balance(queued.recipient)).toBe(queued.micro)
    expect(await repairFinality(operation())).toBe(0)
    expect(await state(queued)).toBe('settled')
    await fixture.finalize(fixture.runner())
    expect(await sent()).toEqual(before)
    expect(await fixture.balance(queued.recipient)).toBe(queued.micro)
  })

  test('a top-up that never happened is booked back, and listed for an operator', async () => {
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 8181n })
    await fixture.finalize(fixture.runner())
    expect(fixture.hookCalls.movements.at(-1)).toMatchObject({ direction: 'in', micro: '8181' })
    await reorganize(9)
    await fixture.chain.mine({ blocks: 3 })
    expect(await repairFinality(operation())).toBe(1)
    expect(said).toContainEqual(expect.stringMatching(/WARNING: 8181 micro-USDC in/))
    expect(fixture.hookCalls.movements.at(-1)).toMatchObject({ direction: 'in', fate: 'gone', micro: '8181' })
    expect(await paused()).toBeNull()
  })

  /** A thief with the treasury's key takes a little. */
  async function takeWithTheKey(): Promise<Hex> {
    await fixture.chain.setBalance({ address: fixture.treasury.address, value: parseEther('1') })
    const hash = await fixture.chain.sendRawTransaction({
      serializedTransaction: await fixture.treasury.signTransaction({
        type: 'eip1559',
        chainId: TOKEN.chainId,
        nonce: await fixture.chain.getTransactionCount({ address: fixture.treasury.address }),
        to: TOKEN.address,
        data: encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [newAddress(), 5n] }),
        gas: 300_000n,
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      }),
    })
    await fixture.chain.mine({ blocks: 6 })
    return hash
  }

  test('an unknown transfer that the repair reads keeps everything paused until an operator has acknowledged it', async () => {
    const { queued, depth } = await settle()
    await reorganize(depth)
    const hash = await takeWithTheKey()
    expect(await repairFinality(operation())).toBe(1)
    expect(said.at(-1)).toBe('still paused: unknown transfers left the treasury')
    expect(await paused()).toMatch(/^unknown transfers/)
    await fixture.finalize(fixture.runner(), 3)
    expect(await state(queued)).toBe('queued')
    const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
    expect(await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, hash))).toBe(0)
    await fixture.finalize(fixture.runner(), 3)
    expect(await state(queued)).toBe('settled')
  })

  // It was never named again, and the lanes continued with the books half repaired.
  test('a repair that is killed while it lists removed transfers is neither over nor ended by acknowledging a transfer', async () => {
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 8282n })
    await fixture.finalize(fixture.runner())
    await reorganize(9)
    const hash = await takeWithTheKey()
    await fixture.runner().tick()
    const kill = (line: string): void => {
      if (line.includes('is no longer on chain')) throw new Error('killed')
    }
    await expect(repairFinality({ ...operation(), say: kill })).rejects.toThrow('killed')
    expect(await acknowledge(operation(), hash)).toBe(1)
    expect(said).toEqual([expect.stringMatching(/^no unknown transfer is left; still paused: finalized block/)])
    expect(await paused()).toMatch(/^finalized block/)
    expect(await repairFinality(operation())).toBe(1)
    expect(said).toContainEqual(expect.stringMatching(/^WARNING: 8282 micro-USDC in/))
    expect(await paused()).toBeNull()
  })

  // Everything continued with the books half repaired, and the removed blocks were not recorded any more.
  test('a repair that is killed before the chain is read again keeps everything paused, though no worker has read the reversal', async () => {
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 8383n })
    await fixture.finalize(fixture.runner())
    await reorganize(9)
    await fixture.chain.mine({ blocks: 6 })
    const kill = (line: string): void => {
      if (line.includes('read again from block')) throw new Error('killed')
    }
    await expect(repairFinality({ ...operation(), say: kill })).rejects.toThrow('killed')
    expect(await paused()).toMatch(/^finalized block 0x[0-9a-f]{64} has left the chain, and its repair is not over$/)
    await fixture.runner().assertReady()
    await fixture.finalize(fixture.runner())
    expect(await paused()).toMatch(/^finalized block/)
    expect(await repairFinality(operation(true))).toBe(1)
    expect(said).toContainEqual(expect.stringMatching(/is unchanged, but a repair must still end the pause$/))
    expect(await repairFinality(operation())).toBe(1)
    expect(said).toContainEqual(expect.stringMatching(/^WARNING: 8383 micro-USDC in/))
    expect(await paused()).toBeNull()
  })

  test('the database refuses to revert an end whose proof is still there', async () => {
    const { queued } = await settle()
    await expect(
      fixture.db.query(`update payout set state = 'queued' where payment_id = $1`, [queued.paymentId]),
    ).rejects.toThrow('stays so')
    await fixture.db.query(
      `insert into finality_reversal (owner_id, tx_hash, log_index, block_hash)
     select owner_id, tx_hash, log_index, block_hash from treasury_log where owner_id = $1`,
      [queued.paymentId],
    )
    await expect(
      fixture.db.query(`update payout set state = 'queued' where payment_id = $1`, [queued.paymentId]),
    ).rejects.toThrow('stays so')
  })

  /** Drops the bytes of the newest transaction, and of its payouts. */
  async function dropBytes({ paymentId }: Queued): Promise<void> {
    // Pruning never does this to blocks that can be reverted.
    await fixture.db.query(
      `update lane_tx set calldata = '', dropped_at = now() where nonce = (select max(nonce) from lane_tx)`,
    )
    await fixture.db.query(`update lane_tx_attempt set raw = '' where nonce = (select max(nonce) from lane_tx)`)
    await fixture.db.query('delete from lane_tx_item where nonce = (select max(nonce) from lane_tx)')
    await fixture.db.query('delete from payout_signature where owner_id = $1', [paymentId])
  }

  test('a transaction whose bytes were dropped, and that a reversal reverts anyway, is named; its lane and payout continue', async () => {
    const { queued, depth } = await settle()
    await dropBytes(queued)
    await reorganize(depth)
    await fixture.chain.mine({ blocks: 3 })
    const runner = fixture.runner()
    await runner.tick()
    expect(await repairFinality(operation())).toBe(1)
    expect(said).toContainEqual(expect.stringMatching(/^WARNING: lane 0x\w+ cannot send nonce \d+ again/))
    expect(await state(queued)).toBe('queued')
    // Four blocks without the lane's lowest nonce, then one in which it is used up.
    await fixture.finalize(runner, 5)
    expect(await state(queued)).toBe('settled')
    expect(await fixture.balance(queued.recipient)).toBe(queued.micro)
    const next = await settle()
    expect(await fixture.balance(next.queued.recipient)).toBe(next.queued.micro)
  })

  // Only the repair that has reverted it knows it.
  test('a transaction whose bytes were dropped is named at once by a repair that then cannot read the chain again', async () => {
    const { queued, depth } = await settle()
    await dropBytes(queued)
    await reorganize(depth)
    await fixture.chain.mine({ blocks: 3 })
    const kill = (line: string): void => {
      if (line.includes('read again from block')) throw new Error('killed')
      said.push(line)
    }
    await expect(repairFinality({ ...operation(), say: kill })).rejects.toThrow('killed')
    expect(said).toContainEqual(expect.stringMatching(/^WARNING: lane 0x\w+ cannot send nonce \d+ again/))
    expect(await repairFinality(operation())).toBe(0)
    await fixture.finalize(fixture.runner(), 5)
    expect(await fixture.balance(queued.recipient)).toBe(queued.micro)
  })
})
