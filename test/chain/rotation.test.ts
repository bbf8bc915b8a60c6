import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { addressOf as addressOfKey } from '../../scripts/system/environment.ts'
import { poll } from '../../scripts/system/waiting.ts'
import { accountOf } from '../../src/chain/keys/private-key.ts'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import { USDC_VIEWS } from '../../src/chain/token/contracts.ts'
import { readWorkerConfig } from '../../src/config.ts'
import { acknowledgeTransfers } from '../../src/db/settlement/operator.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { openTreasuries } from '../../src/deps/keys.ts'
import { timeOfPayment } from '../../src/domain/ids.ts'
import { newId } from '../../src/ids.ts'
import { mintUsdc } from '../../src/sandbox/chain.ts'
import type { SettlementRunner } from '../../src/settlement/runner.ts'
import { type RpcCall, startLossyProxy } from '../support/anvil.ts'
import { copyDatabase } from './databases.ts'
import { addressOf, idAt, MINUTES_UNTIL_DEAD, signerOf, useRotation } from './rotation-world.ts'
import { createWorld, insertPayments, newAddress, newKey, queueAll, TOKEN, type World } from './world.ts'

describe('a rotation by the variables of a worker', () => {
  /** A rotation as an operator makes it: by the variables of the worker. */

  const composeFile = new URL('../../docker-compose.yml', import.meta.url)
  const { services } = parse(readFileSync(composeFile, 'utf8'), { merge: true }) as {
    services: { worker: { environment: Record<string, string> } }
  }
  // As compose does without variables of the caller: `${NAME:-default}` is its default.
  const environment = Object.fromEntries(
    Object.entries(services.worker.environment).map(([key, value]) => [key, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
  )
  const workerWith = (changes: Record<string, string>) =>
    readWorkerConfig({ ...environment, USDC_ADDRESS: TOKEN.address, CHAIN_ID: '31337', ...changes })

  const oldKey = newKey()
  const newTreasuryKey = newKey()
  let world: World
  beforeAll(async () => {
    const created = await createWorld()
    world = { ...created, treasury: accountOf(oldKey) }
    for (const key of [oldKey, newTreasuryKey])
      await mintUsdc(world.chain, { to: accountOf(key).address, micro: 1_000_000_000n })
  })
  afterAll(() => world.stop())

  async function runnerOf(changes: Record<string, string>) {
    const treasuries = await openTreasuries(workerWith(changes))
    const options = { retiredTreasuries: treasuries.retired }
    return { treasuries, runner: world.runner({ treasuries: treasuries.all, options }) }
  }

  const state = async (paymentId: string) => (await world.payout(paymentId)).state

  test('with the old key among the retired ones, what is queued on it is still paid or cancelled', async () => {
    const [before, unwanted] = await queueAll(world, [{}, {}])
    const { treasuries, runner } = await runnerOf({ TREASURY_KEY: newTreasuryKey, RETIRED_TREASURY_KEYS: ` ${oldKey}` })
    expect(treasuries.current.address).toBe(addressOfKey(newTreasuryKey).toLowerCase())
    expect(treasuries.all.map(({ address }) => address)).toEqual(
      [newTreasuryKey, oldKey].map((key) => addressOfKey(key).toLowerCase()),
    )
    await world.db.transaction((tx) => requestVoid(tx, unwanted!.paymentId))
    await runner.assertReady()
    await world.finalize(runner)
    expect(await state(before!.paymentId)).toBe('settled')
    expect(await world.balance(before!.recipient)).toBe(before!.micro)
    expect(await state(unwanted!.paymentId)).toBe('voided')
    expect(world.heard.voided.at(-1)).toMatchObject({ kind: 'cancelled', paymentId: unwanted!.paymentId })
  })

  test('with only its address left, what the old treasury paid is not paid again, and the rest is held', async () => {
    const paid = { paymentId: 'pay_rotated', recipient: newAddress(), micro: 4000n }
    await queueAll(world, [paid])
    // Back to the old key: what the other treasury signed meanwhile must be dead first.
    const { runner: back } = await runnerOf({ TREASURY_KEY: oldKey })
    await back.tick()
    await world.chain.increaseTime({ seconds: 56 * 60 })
    await world.chain.mine({ blocks: 4 })
    await world.finalize(back, 3)
    expect(await state(paid.paymentId)).toBe('settled')
    // The database is older than the payment, and the payment asks for its payout again: now of the new treasury.
    await world.db.query('alter table payout disable trigger user')
    for (const table of ['lane_tx_item', 'payout_signature', 'treasury_log', 'payout'])
      await world.db.query(`delete from ${table} where payment_id = 'pay_rotated'`)
    await world.db.query('alter table payout enable trigger user')
    await queueAll({ ...world, treasury: accountOf(newTreasuryKey) }, [paid])
    const [left] = await queueAll(world, [{}])
    const { runner } = await runnerOf({ TREASURY_KEY: newTreasuryKey, RETIRED_TREASURIES: addressOfKey(oldKey) })
    await runner.assertReady()
    await world.finalize(runner)
    expect(await world.payout(paid.paymentId)).toMatchObject({ state: 'held', holdReason: 'policy' })
    expect(await world.balance(paid.recipient)).toBe(4000n)
    expect(await world.payout(left!.paymentId)).toMatchObject({ state: 'held', holdReason: 'policy' })
  })

  test('a treasury that is named twice ends the start', async () => {
    const { runner } = await runnerOf({ TREASURY_KEY: oldKey, RETIRED_TREASURIES: addressOfKey(oldKey) })
    await expect(runner.assertReady()).rejects.toThrow(/named twice/)
  })
})

describe('a rotation with payouts on their way', () => {
  /** A rotation while the old treasury's past is still pending: two treasuries, two nonces, and the token takes both. */

  const rotation = useRotation()
  const { world, old, successor } = rotation

  const pausedReason = async (): Promise<string | null> => {
    const { rows } = await world.db.query('select paused_reason from chain_cursor')
    return (rows[0] as { paused_reason: string | null }).paused_reason
  }

  test('a restored backup and a rotated treasury while the old transfer is pending: the payment is paid once', async () => {
    const payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
    await insertPayments(world.db, [payment])
    const dump = await copyDatabase(world.db)
    await rotation.queueOn(old, [payment])
    await rotation.before().tick()
    expect((await rotation.found(payment)).state).toBe('broadcast')
    // The backup does not know that the old treasury has signed, and the payment asks for its payout again.
    const { db } = dump
    try {
      await queueAll({ db, treasury: successor }, [payment])
      const runner = rotation.after({ db })
      await runner.tick()
      await runner.tick()
      const waiting = await readPayout(db, payment.paymentId)
      expect(waiting).toMatchObject({ state: 'held', holdReason: 'rotation' })
      expect(waiting?.holdDetail).toContain(addressOf(old))
      await world.finalize(runner, 3)
      expect(await readPayout(db, payment.paymentId)).toMatchObject({ state: 'held', holdReason: 'policy' })
      await rotation.pass(MINUTES_UNTIL_DEAD)
      await world.finalize(runner, 3)
      expect(await world.balance(payment.recipient)).toBe(payment.micro)
    } finally {
      dump.giveBack()
    }
  })

  test('what the old treasury has signed and nobody carried is paid by the new one when it is dead, and not before', async () => {
    const [queued] = await rotation.queueOn(successor, [{}])
    const runner = rotation.after()
    await world.finalize(runner)
    expect(await rotation.found(queued!)).toMatchObject({ state: 'held', holdReason: 'rotation' })
    await rotation.pass(MINUTES_UNTIL_DEAD - 3)
    await world.finalize(runner)
    expect(await rotation.found(queued!)).toMatchObject({ state: 'held', holdReason: 'rotation' })
    await rotation.pass(4)
    await world.finalize(runner, 3)
    expect(await rotation.found(queued!)).toMatchObject({ state: 'settled' })
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
  })

  test('a payment that was made after the rotation waits for nothing; one of the same minutes does', async () => {
    expect(Math.abs((timeOfPayment(newId('payment')) ?? 0) - Date.now())).toBeLessThan(5000)
    expect(timeOfPayment('pay_rotated')).toBeNull()
    const late = { paymentId: idAt(Date.now() + 11 * 60_000) }
    const close = { paymentId: idAt(Date.now() + 9 * 60_000) }
    expect(Math.abs((timeOfPayment(late.paymentId) ?? 0) - Date.now() - 11 * 60_000)).toBeLessThan(1000)
    const [free, waiting] = await rotation.queueOn(successor, [late, close])
    await world.finalize(rotation.after())
    expect(await rotation.found(free!)).toMatchObject({ state: 'settled' })
    expect(await rotation.found(waiting!)).toMatchObject({ state: 'held', holdReason: 'rotation' })
  })

  test('a payment whose nonce the old treasury has cancelled is paid at once, and one that it has paid never', async () => {
    const [cancelled, paid] = await rotation.queueOn(successor, [{}, {}])
    await rotation.carry(old, cancelled!, true)
    await rotation.carry(old, paid!)
    await world.chain.mine({ blocks: 4 })
    await world.finalize(rotation.after())
    expect(await rotation.found(cancelled!)).toMatchObject({ state: 'settled' })
    expect(await rotation.found(paid!)).toMatchObject({ state: 'held', holdReason: 'policy' })
    for (const { recipient, micro } of [cancelled!, paid!]) expect(await world.balance(recipient)).toBe(micro)
  })

  test('the proof needs a quorum: while one of two nodes cannot say, nothing is signed', async () => {
    const [queued] = await rotation.queueOn(successor, [{}])
    await world.finalize(rotation.after())
    await rotation.pass(MINUTES_UNTIL_DEAD)
    const proxy = await startLossyProxy(world.anvil.url)
    try {
      // The proof asks about nonces alone, and not whether the token is paused.
      const isProof = ({ method, params }: RpcCall): boolean =>
        method === 'eth_call' && !JSON.stringify(params).includes(USDC_VIEWS.paused.slice(2))
      const gone = { error: { code: -32000, message: 'missing trie node' } }
      proxy.decide = (call) => (isProof(call) ? gone : 'deliver')
      const rpc = connectRpc({ urls: [world.anvil.url, proxy.url], quorum: 2, chainId: TOKEN.chainId })
      const runner = rotation.after({ rpc })
      await world.finalize(runner)
      const { rows } = await world.db.query('select from payout_signature')
      expect(rows).toEqual([])
      proxy.decide = () => 'deliver'
      await world.finalize(runner, 3)
      expect(await rotation.found(queued!)).toMatchObject({ state: 'settled' })
    } finally {
      await proxy.close()
    }
  })

  test('the old treasury, its key still there, pays what was queued on it, and nothing that a stale worker queues later', async () => {
    const [early] = await rotation.queueOn(old, [{}])
    const treasuries = [signerOf(successor), signerOf(old)]
    const runner = rotation.after({ treasuries, options: { retiredTreasuries: [] } })
    await world.finalize(runner)
    expect(await rotation.found(early!)).toMatchObject({ state: 'settled' })
    // The times of the database are whole seconds here.
    await world.db.query(
      `update treasury set retired_at = retired_at - interval '2 seconds' where retired_at is not null`,
    )
    const [stale] = await rotation.queueOn(old, [{}])
    await world.finalize(runner)
    expect(await rotation.found(stale!)).toMatchObject({ state: 'held', holdReason: 'policy' })
    expect((await rotation.found(stale!)).holdDetail).toContain('take-over')
  })

  describe('a second payout of one payment', () => {
    test('pauses the engine, whichever comes first, until an operator has looked', async () => {
      const [paid] = await rotation.queueOn(successor, [{}])
      const runner = rotation.after()
      await world.finalize(runner)
      await rotation.pass(MINUTES_UNTIL_DEAD)
      await world.finalize(runner, 3)
      expect(await rotation.found(paid!)).toMatchObject({ state: 'settled' })
      expect(await pausedReason()).toBeNull()
      // Somebody has the old key.
      const second = await rotation.carry(old, paid!)
      const [next] = await rotation.queueOn(successor, [{ paymentId: idAt(Date.now() + 11 * 60_000) }])
      await world.chain.mine({ blocks: 4 })
      await world.finalize(runner)
      expect(await world.balance(paid!.recipient)).toBe(2n * paid!.micro)
      expect(await pausedReason()).toContain(`payment ${paid!.paymentId} was paid twice`)
      expect(await pausedReason()).toContain(second)
      expect((await rotation.found(next!)).state).not.toBe('settled')
      const scope = { chainId: TOKEN.chainId, token: TOKEN.address }
      expect(await world.db.transaction((tx) => acknowledgeTransfers(tx, scope, second))).toBe(0)
      await world.finalize(runner, 3)
      expect(await rotation.found(next!)).toMatchObject({ state: 'settled' })
    })

    test('pauses the engine also when the old treasury pays first', async () => {
      const [twice] = await rotation.queueOn(successor, [{}])
      await world.finalize(rotation.after())
      await rotation.pass(MINUTES_UNTIL_DEAD)
      // Signed, and not sent yet.
      const waiting = rotation.after({ options: { maxInFlight: 0 } })
      await waiting.tick()
      await waiting.tick()
      expect((await rotation.found(twice!)).state).toBe('authorized')
      await rotation.carry(old, twice!)
      await world.chain.mine({ blocks: 4 })
      await waiting.tick()
      expect(await pausedReason()).toBeNull()
      await world.finalize(rotation.after(), 3)
      expect(await world.balance(twice!.recipient)).toBe(2n * twice!.micro)
      expect(await pausedReason()).toContain(`payment ${twice!.paymentId} was paid twice`)
    })
  })

  /** Goes round as a worker does until its treasuries are known. */
  async function start(runner: SettlementRunner): Promise<void> {
    const stop = new AbortController()
    const running = runner.run(stop.signal)
    const current = async () =>
      (await world.db.query('select 1 from treasury where address = $1', [addressOf(successor)])).rows
    await poll(async () => (await current()).length === 1, { withinMs: 20_000, everyMs: 20, what: 'the new treasury' })
    stop.abort()
    await running
  }
  const keyless = async () => {
    const { rows } = await world.db.query('select keyless_at is not null as keyless from treasury where address = $1', [
      addressOf(old),
    ])
    return (rows[0] as { keyless: boolean }).keyless
  }

  // the time of the rotation began with the first payout that was to be signed, or when an operator had ended the pause
  test.each(['when nothing is to be paid', 'while everything is paused'])(
    'a rotation is as old as the first worker that starts with it: %s',
    async (when) => {
      await rotation.before().tick()
      if (when.includes('paused')) await world.db.query(`update chain_cursor set paused_reason = 'a theft'`)
      expect(await keyless()).toBe(false)
      await start(rotation.after())
      expect(await keyless()).toBe(true)
    },
  )

  test('a void that is asked for once more waits for a lost treasury no longer than before', async () => {
    const [queued] = await rotation.queueOn(old, [{}])
    const ask = () => world.db.transaction((tx) => requestVoid(tx, queued!.paymentId))
    const since = async () =>
      (
        (await world.db.query('select updated_at as at from payout where payment_id = $1', [queued!.paymentId]))
          .rows[0] as { at: Date }
      ).at
    expect(await ask()).toBe(true)
    await world.db.query(`update payout set updated_at = updated_at - interval '50 minutes'`)
    const asked = await since()
    expect(await ask()).toBe(true)
    expect(await since()).toEqual(asked)
  })
})
