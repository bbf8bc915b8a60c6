import { describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import type { Db } from '../../src/db/db.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { readForgotten } from '../../src/db/settlement/watch/forgotten.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { newId } from '../../src/ids.ts'
import type { Operation } from '../../src/operator/payouts.ts'
import { rebuild } from '../../src/operator/rebuild.ts'
import { takeOverPayouts } from '../../src/operator/take-over.ts'
import type { SettlementRunner } from '../../src/settlement/runner.ts'
import { copyDatabase } from '../chain/databases.ts'
import { addressOf, idAt, MINUTES_UNTIL_DEAD, signerOf, useRotation } from '../chain/rotation-world.ts'
import { insertPayments, newAddress, type Queued, queueAll, settingsOf } from '../chain/world.ts'

describe('a take-over', () => {
  /** Taking the payouts of a dead treasury over. */

  const rotation = useRotation()
  const { world, old, successor } = rotation

  const operation = (said: string[], dryRun = false): Operation => ({
    db: world.db,
    settings: settingsOf(world),
    hooks: world.hooks,
    dryRun,
    say: (line) => void said.push(line),
  })

  test('a take-over moves each with its proof and pays it once; what was paid, held or voided stays so', async () => {
    const [pending, paid, kept, unwanted] = await rotation.queueOn(old, [{}, {}, {}, {}])
    // All are signed; one is carried by a lane that forgets it.
    await rotation.before().tick()
    const { rows: sent } = await world.db.query('select tx_hash as hash from lane_tx_attempt')
    for (const { hash } of sent as { hash: Hex }[]) await world.chain.dropTransaction({ hash })
    const [untouched] = await rotation.queueOn(old, [{}])
    await world.db.query(
      `update payout set state = 'held', hold_reason = 'operator', hold_detail = 'wait', lane_wallet = null, lane_nonce = null
     where payment_id = $1`,
      [kept!.paymentId],
    )
    await world.db.transaction((tx) => requestVoid(tx, unwanted!.paymentId))

    const runner = rotation.after()
    await world.finalize(runner)
    expect(await rotation.found(untouched!)).toMatchObject({ state: 'held', holdReason: 'policy' })
    const said: string[] = []
    expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(1)
    expect(said).toEqual([expect.stringContaining(`signatures of ${addressOf(old)} may be valid until`)])

    await rotation.carry(old, paid!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await runner.tick()
    expect(await takeOverPayouts(operation(said, true), addressOf(old))).toBe(0)
    expect(said.at(-1)).toContain('would be queued')
    expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(0)
    expect(said.at(-1)).toContain(`queued on ${addressOf(successor)}: 3 payouts of ${addressOf(old)};`)
    expect(world.heard.released).toContain(untouched!.paymentId)
    await world.finalize(runner, 3)

    for (const payout of [pending!, untouched!, paid!]) {
      expect(await rotation.found(payout)).toMatchObject({ state: 'settled' })
      expect(await world.balance(payout.recipient)).toBe(payout.micro)
    }
    expect(await rotation.found(kept!)).toMatchObject({ state: 'held', holdReason: 'operator' })
    expect(await rotation.found(unwanted!)).toMatchObject({ state: 'voided' })
    for (const { recipient } of [kept!, unwanted!]) expect(await world.balance(recipient)).toBe(0n)
    expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(0)
    expect(said.at(-1)).toContain('0 payouts')
    const { rows } = await world.db.query('select distinct block_time >= valid_before as proved from payout_takeover')
    expect(rows).toEqual([{ proved: true }])
  })

  test('a take-over is refused while an engine may have its key, and before any engine has started', async () => {
    await expect(takeOverPayouts(operation([]), addressOf(old))).rejects.toThrow('no treasury is current')
    const treasuries = [signerOf(successor), signerOf(old)]
    await rotation.after({ treasuries, options: { retiredTreasuries: [] } }).tick()
    await expect(takeOverPayouts(operation([]), addressOf(old))).rejects.toThrow('must be a treasury without a key')
    await expect(takeOverPayouts(operation([]), addressOf(successor))).rejects.toThrow(
      'must be a treasury without a key',
    )
  })

  test('a take-over keeps one of which a later signature is known, until that one is dead too', async () => {
    const [queued] = await rotation.queueOn(old, [{}])
    await rotation.before({ options: { maxInFlight: 0, authorizationSeconds: (3 * 60 + 45) * 60 } }).tick()
    const silent = rotation.after({ options: { maxInFlight: 0 } })
    await silent.tick()
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await silent.tick()
    const said: string[] = []
    for (const dryRun of [true, false]) {
      expect(await takeOverPayouts(operation(said, dryRun), addressOf(old))).toBe(1)
      expect(said.at(-2)).toMatch(new RegExp(`^${queued!.paymentId} stays: a later signature of ${addressOf(old)} `))
      expect(said.at(-1)).toContain('not moved: 1')
    }
    await rotation.pass(3 * 60)
    await silent.tick()
    expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(0)
    await world.finalize(rotation.after(), 3)
    expect(await rotation.found(queued!)).toMatchObject({ state: 'settled' })
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
  })

  test('a take-over leaves what the old treasury has paid on chain, also while the record of it fails', async () => {
    const [paid] = await rotation.queueOn(old, [{}])
    const onSettled = () => Promise.reject(new Error('the record refuses the proof'))
    const refusing = rotation.after({ hooks: { onSettled } })
    await refusing.tick()
    await rotation.carry(old, paid!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await refusing.tick()
    expect((await world.payout(paid!.paymentId)).hookError).toContain('refuses')
    const said: string[] = []
    expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(1)
    expect(said[0]).toContain(`${paid!.paymentId} stays: ${addressOf(old)} has already paid or canceled it`)
    await world.db.query('update payout set hook_retry_at = null')
    await world.finalize(rotation.after(), 3)
    expect(await rotation.found(paid!)).toMatchObject({ state: 'settled' })
    expect(await world.balance(paid!.recipient)).toBe(paid!.micro)
  })

  test('a take-over is the only way to another treasury: the database refuses a change without the proof', async () => {
    const [queued] = await rotation.queueOn(old, [{}])
    const change = world.db.query('update payout set treasury = $1 where payment_id = $2', [
      addressOf(successor),
      queued!.paymentId,
    ])
    await expect(change).rejects.toThrow('are fixed')
  })
})

describe('a restored database', () => {
  /** A database is restored that knows a rotation, and not what the earlier treasury has signed since. */

  const rotation = useRotation()
  const { world, old, successor } = rotation

  const DAY_AGO = `now() - interval '1 day'`

  /** The workers when each treasury has its key, and `first` is the current one. */
  const both = (first: LocalAccount, second: LocalAccount) => ({
    treasuries: [signerOf(first), signerOf(second)],
    relayers: [world.relayers[first === old ? 0 : 1]!],
  })

  /** The transaction that was sent last, which no node knows any more. */
  async function takeFromPool(db: Db = world.db): Promise<Hex> {
    const { rows } = await db.query(
      `select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt order by nonce desc limit 1`,
    )
    await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    return (rows[0] as { raw: Hex }).raw
  }

  const operation = (said: string[], db: Db = world.db, url = world.databaseUrl): Operation => ({
    db,
    settings: { ...settingsOf(world), DATABASE_URL: url as never, TREASURY_ADDRESSES: [addressOf(successor)] },
    hooks: world.hooks,
    dryRun: false,
    say: (line) => void said.push(line),
  })

  /** Comes back from a stranger's node and is mined. */
  async function mineAgain(raw: Hex, runner: SettlementRunner): Promise<void> {
    await world.chain.sendRawTransaction({ serializedTransaction: raw })
    await world.chain.mine({ blocks: 4 })
    await world.finalize(runner, 2)
  }

  /** The rotation was a day ago; a backup is taken; it is taken back for a while, in which the old treasury signs the payment. */
  async function rotateBackAndForth(payment: Queued) {
    await rotation.before().tick()
    await world.runner(both(successor, old)).tick()
    await world.db.query(`update treasury set retired_at = ${DAY_AGO} where retired_at is not null`)
    await insertPayments(world.db, [payment])
    const dump = await copyDatabase(world.db)
    await world.runner(both(old, successor)).tick()
    await rotation.queueOn(old, [payment])
    await world.db.query(`update treasury set retired_at = now() - interval '1 hour' where retired_at is not null`)
    await world.runner(both(old, successor)).tick()
    await world.runner(both(old, successor)).tick()
    expect((await rotation.found(payment)).state).toBe('broadcast')
    const raw = await takeFromPool()
    await world.runner(both(successor, old)).tick()
    return { dump, raw }
  }

  test.each(['after a rebuild', 'without one, by a worker that finds a backup of yesterday'])(
    'a rotation that was taken back since the backup: the payment is paid once, %s',
    async (how) => {
      const payment = { paymentId: idAt(Date.now() - 2 * 3_600_000), recipient: newAddress(), micro: 4000n }
      const { dump, raw } = await rotateBackAndForth(payment)
      const { db } = dump
      try {
        const said: string[] = []
        if (how === 'after a rebuild') {
          expect(await rebuild({ ...operation(said, db, dump.url), dryRun: true })).toBe(0)
          expect(said[0]).toBe(
            `${addressOf(old)} would count as retired from now on: payouts of older payments wait 55 minutes`,
          )
          expect(await rebuild(operation(said, db, dump.url))).toBe(0)
        } else await db.query(`update chain_cursor set scanned_at = ${DAY_AGO}`)
        const runner = world.runner({ db, ...both(successor, old) })
        await runner.tick()
        await queueAll({ db, treasury: successor }, [payment])
        await world.finalize(runner, 4)
        expect(await readPayout(db, payment.paymentId)).toMatchObject({ state: 'held', holdReason: 'rotation' })
        await mineAgain(raw, runner)
        await rotation.pass(MINUTES_UNTIL_DEAD)
        await world.finalize(runner, 2)
        expect(await world.balance(payment.recipient)).toBe(payment.micro)
        expect(await readPayout(db, payment.paymentId)).toMatchObject({ state: 'held', holdReason: 'policy' })
        expect(await rebuild(operation(said, db, dump.url))).toBe(1)
      } finally {
        dump.giveBack()
      }
    },
  )

  test.each(['after a rebuild', 'without one, by a worker that finds a backup of yesterday'])(
    'a key that was found and lost again since the backup: a take-over waits for what it has signed, %s',
    async (how) => {
      await rotation.before().tick()
      const [payment] = await rotation.queueOn(old, [{ paymentId: newId('payment') }])
      // The backup is of a time when its key was lost already.
      await rotation.after({ options: { maxInFlight: 0 } }).tick()
      await world.db.query(
        `update treasury set retired_at = ${DAY_AGO}, keyless_at = ${DAY_AGO} where retired_at is not null`,
      )
      await world.db.query(`update payout set created_at = now() - interval '2 days'`)
      const dump = await copyDatabase(world.db)
      await world.db.query(`update payout set state = 'queued', hold_reason = null, hold_detail = null`)
      const found = { ...both(successor, old), relayers: [world.relayers[0]!] }
      await world.runner(found).tick()
      await world.runner(found).tick()
      expect((await rotation.found(payment!)).state).toBe('broadcast')
      const raw = await takeFromPool()
      const { db } = dump
      try {
        const said: string[] = []
        if (how === 'after a rebuild') expect(await rebuild(operation(said, db, dump.url))).toBe(0)
        else await db.query(`update chain_cursor set scanned_at = ${DAY_AGO}`)
        const runner = rotation.after({ db })
        await world.finalize(runner, 2)
        expect(await takeOverPayouts(operation(said, db, dump.url), addressOf(old))).toBe(1)
        expect(said.at(-1)).toContain(`signatures of ${addressOf(old)} may be valid until`)
        await mineAgain(raw, runner)
        expect(await world.balance(payment!.recipient)).toBe(payment!.micro)
        expect(await readPayout(db, payment!.paymentId)).toMatchObject({ state: 'settled' })
      } finally {
        dump.giveBack()
      }
    },
  )

  /**
   * Two backups of before the rotation. On the older one, which knows no payout, the current treasury signs the payment, and a
   * lane of its own has sent it.
   */
  async function restoreOlder(payment: Queued) {
    await rotation.before().tick()
    await insertPayments(world.db, [payment])
    const older = await copyDatabase(world.db)
    await rotation.queueOn(old, [payment])
    await world.db.query(`update payout set created_at = now() - interval '2 hours'`)
    const { db } = older
    try {
      const runner = world.runner({ db, ...both(successor, old), relayers: [world.relayers[0]!] })
      await runner.tick()
      await db.query(`update treasury set retired_at = now() - interval '1 hour' where retired_at is not null`)
      await queueAll({ db, treasury: successor }, [payment])
      await runner.tick()
      await runner.tick()
      expect((await readPayout(db, payment.paymentId))?.state).toBe('broadcast')
      return await takeFromPool(db)
    } finally {
      older.giveBack()
    }
  }

  test.each(['after a rebuild', 'without one, by a worker that finds a backup of yesterday'])(
    'a newer backup, in which the payment is at the earlier treasury, is restored after an older one: it is paid once, %s',
    async (how) => {
      const payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
      const raw = await restoreOlder(payment)
      if (how === 'after a rebuild') expect(await rebuild(operation([]))).toBe(0)
      else await world.db.query(`update chain_cursor set scanned_at = ${DAY_AGO}`)
      const runner = world.runner(both(successor, old))
      await runner.tick()
      await world.finalize(runner, 4)
      const waiting = await rotation.found(payment)
      expect(waiting).toMatchObject({ state: 'held', holdReason: 'rotation' })
      expect(waiting.holdDetail).toContain(addressOf(successor))
      await mineAgain(raw, runner)
      await rotation.pass(MINUTES_UNTIL_DEAD)
      await world.finalize(runner, 2)
      expect(await world.balance(payment.recipient)).toBe(payment.micro)
      expect(await rotation.found(payment)).toMatchObject({ state: 'held', holdReason: 'policy' })
    },
  )

  test('the earlier treasury pays what the current one has not signed before the restore, when that is dead', async () => {
    const payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
    await restoreOlder(payment)
    expect(await rebuild(operation([]))).toBe(0)
    const runner = world.runner(both(successor, old))
    await world.finalize(runner, 2)
    expect((await rotation.found(payment)).state).toBe('held')
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(runner, 3)
    expect((await rotation.found(payment)).state).toBe('settled')
    expect(await world.balance(payment.recipient)).toBe(payment.micro)
  })

  test('a payment is not voided at the earlier treasury while the current one may still pay it', async () => {
    const payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
    const raw = await restoreOlder(payment)
    expect(await rebuild(operation([]))).toBe(0)
    const runner = world.runner(both(successor, old))
    await runner.tick()
    await world.db.transaction((tx) => requestVoid(tx, payment.paymentId))
    await world.finalize(runner, 4)
    await mineAgain(raw, runner)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(runner, 2)
    expect(await world.balance(payment.recipient)).toBe(payment.micro)
    expect((await rotation.found(payment)).state).toBe('voiding')
  })

  test('a worker that starts again within the hour leaves since when the earlier treasury is retired and keyless', async () => {
    await rotation.before().tick()
    await world.finalize(rotation.after())
    await world.db.query(
      `update treasury set retired_at = ${DAY_AGO}, keyless_at = ${DAY_AGO} where retired_at is not null`,
    )
    const times = async () => (await world.db.query('select * from treasury order by address')).rows
    const known = await times()
    await rotation.after().tick()
    expect(await times()).toEqual(known)
  })

  test('a rebuild names each payout that another treasury has paid: no log ends it, and an operator must look', async () => {
    const [paid] = await rotation.queueOn(successor, [{}])
    const hash = await rotation.carry(old, paid!)
    await world.chain.mine({ blocks: 4 })
    await world.finalize(rotation.after())
    expect(await rotation.found(paid!)).toMatchObject({ state: 'held', holdReason: 'policy' })
    const said: string[] = []
    for (const dryRun of [true, false]) expect(await rebuild({ ...operation(said), dryRun })).toBe(1)
    const named = `WARNING: ${paid!.paymentId} was paid by ${addressOf(old)} in ${hash}, but the payout here is stopped at another treasury, ${addressOf(successor)}.`
    expect(said.filter((line) => line.startsWith(named))).toHaveLength(2)
    expect(said).toContainEqual(expect.stringMatching(/do not refund it/))
  })

  test.each(['after a rebuild', 'without one, by a worker that finds a backup of yesterday'])(
    'a payment is given back only when what was signed for it is dead, %s',
    async (how) => {
      await rotation.before().tick()
      const payment = { paymentId: newId('payment'), recipient: newAddress() }
      await insertPayments(world.db, [payment])
      const forgotten = () => world.db.transaction((tx) => readForgotten(tx, payment.paymentId))
      expect(await forgotten()).toBeNull()
      if (how === 'after a rebuild') {
        await world.db.query('update chain_cursor set lease_until = now(), owner = null')
        expect(await rebuild({ ...operation([]), dryRun: true })).toBe(0)
        expect(await forgotten()).toBeNull()
        expect(await rebuild(operation([]))).toBe(0)
      } else await world.db.query(`update chain_cursor set scanned_at = ${DAY_AGO}`)
      await world.finalize(rotation.before())
      expect(await forgotten()).toMatchObject({ kind: 'unsure' })
      await rotation.pass(MINUTES_UNTIL_DEAD - 2)
      await world.finalize(rotation.before())
      expect(await forgotten()).toMatchObject({ kind: 'unsure' })
      await rotation.pass(2)
      await world.finalize(rotation.before())
      expect(await forgotten()).toBeNull()
    },
  )
})
