import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Db } from '../../src/db/db.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { readTreasuryList } from '../../src/db/settlement/signing/treasuries.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { newId } from '../../src/ids.ts'
import type { Act } from '../../src/operator/payouts.ts'
import { rebuild } from '../../src/operator/rebuild.ts'
import { takeOver } from '../../src/operator/take-over.ts'
import { voidPayout } from '../../src/payments/void-payout.ts'
import { copyDatabase, type FixtureDatabase } from '../chain/databases.ts'
import { createSettings, insertPayments, newAddress, type Queued, queueAll, TOKEN } from '../chain/fixture.ts'
import {
  createList,
  lowerCaseAddress,
  MINUTES_UNTIL_DEAD,
  MINUTES_UNTIL_SURE,
  type Rotation,
  useRotation,
} from '../chain/rotation-fixture.ts'

const SIGNED = { operator: 'anna', reason: 'a drill' }

const scope = { chainId: TOKEN.chainId, token: TOKEN.address }

const operationOn = (
  { fixture, old, successor }: Rotation,
  { db, url }: Pick<FixtureDatabase, 'db' | 'url'>,
  said: string[] = [],
): Act => ({
  db,
  settings: { ...createSettings(fixture), DATABASE_URL: url as never, TREASURIES: createList(old, successor) },
  hooks: fixture.hooks,
  dryRun: false,
  signed: SIGNED,
  say: (line) => void said.push(line),
})

describe('A take-over', () => {
  const rotation = useRotation()
  const { fixture, old, successor } = rotation
  const operation = (said: string[] = []) => operationOn(rotation, { db: fixture.db, url: fixture.databaseUrl }, said)

  test('a take-over is recorded by one command; a dry run changes nothing, and a second one prints the same', async () => {
    await rotation.after().tick()
    const said: string[] = []
    expect(await takeOver({ ...operation(said), dryRun: true }, lowerCaseAddress(old), null)).toBe(0)
    expect(said[0]).toContain(
      `${lowerCaseAddress(successor)} would take over from ${lowerCaseAddress(old)}: each open payout`,
    )
    const successors = async () => (await readTreasuryList(fixture.db, scope)).map((one) => one.successor)
    expect(await successors()).toEqual([null, null])
    for (const to of [null, lowerCaseAddress(successor), null]) {
      expect(await takeOver(operation(said), lowerCaseAddress(old), to)).toBe(0)
      expect(said.at(-2)).toContain(`${lowerCaseAddress(successor)} takes over from ${lowerCaseAddress(old)}`)
      expect(said.at(-1)).toBe('never give its key to a worker again')
      expect(await successors()).toEqual([lowerCaseAddress(successor), null])
    }
  })

  test('a take-over is refused for a stranger, to a stranger, and if no other treasury has a key', async () => {
    await rotation.after().tick()
    const stranger = newAddress()
    await expect(takeOver(operation(), stranger, null)).rejects.toThrow('is no treasury of this deployment')
    await expect(takeOver(operation(), lowerCaseAddress(old), stranger)).rejects.toThrow(`${stranger} cannot take over`)
    await expect(takeOver(operation(), lowerCaseAddress(successor), null)).rejects.toThrow(
      'append a new one to TREASURIES',
    )
    const said: string[] = []
    await rotation.both().tick()
    expect(await takeOver(operation(said), lowerCaseAddress(successor), null)).toBe(0)
    expect(said[1]).toContain('new payments are still queued on it first')
    await expect(takeOver(operation(), lowerCaseAddress(old), lowerCaseAddress(successor))).rejects.toThrow(
      'is lost itself',
    )
  })

  test('a take-over moves each payout with its proof and has it paid once; paid, stopped and voided payouts do not change', async () => {
    await rotation.before().tick()
    const [pending, paid, kept, unwanted] = await rotation.queueOn(old, [{}, {}, {}, {}])
    // All are signed; a lane that forgets it carries them.
    await rotation.before().tick()
    const { rows: sent } = await fixture.db.query('select tx_hash as hash from lane_tx_attempt')
    for (const { hash } of sent as { hash: Hex }[]) await fixture.chain.dropTransaction({ hash })
    const [untouched] = await rotation.queueOn(old, [{}])
    await fixture.db.query(
      `update payout set state = 'stopped', stop_reason = 'operator', stop_detail = 'wait', lane_wallet = null, lane_nonce = null
       where payment_id = $1`,
      [kept!.paymentId],
    )
    await fixture.db.transaction((tx) => requestVoid(tx, unwanted!.paymentId))
    const runner = rotation.after({ relayers: [] })
    await runner.tick()
    await takeOver(operation(), lowerCaseAddress(old), null)
    await rotation.carry(old, paid!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(rotation.after(), 6)

    for (const payout of [pending!, untouched!, paid!]) {
      expect(await rotation.found(payout)).toMatchObject({ state: 'settled' })
      expect(await fixture.balance(payout.recipient)).toBe(payout.micro)
    }
    expect(await rotation.found(kept!)).toMatchObject({ state: 'stopped', stopReason: 'operator' })
    expect((await fixture.payout(kept!.paymentId)).treasury).toBe(lowerCaseAddress(successor))
    expect(await rotation.found(unwanted!)).toMatchObject({ state: 'voided' })
    for (const { recipient } of [kept!, unwanted!]) expect(await fixture.balance(recipient)).toBe(0n)
  })

  test('a take-over is the only way to another treasury: the database refuses a change without the proof', async () => {
    const [queued] = await rotation.queueOn(old, [{}])
    const change = fixture.db.query('update payout set treasury = $1 where payment_id = $2', [
      lowerCaseAddress(successor),
      queued!.paymentId,
    ])
    await expect(change).rejects.toThrow('are fixed')
  })
})

describe('a restored database', () => {
  const rotation = useRotation()
  const { fixture, old, successor } = rotation
  let payment: Queued
  beforeEach(async () => {
    await rotation.both().tick()
    payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
    await insertPayments(fixture.db, [payment])
  })

  const WAYS = ['after a rebuild', 'without one, by a worker that finds a backup of yesterday'] as const
  async function restore(backup: FixtureDatabase, how: (typeof WAYS)[number]): Promise<void> {
    if (how === 'after a rebuild') expect(await rebuild(operationOn(rotation, backup))).toBe(0)
    else await backup.db.query(`update chain_cursor set scanned_at = now() - interval '1 day'`)
  }

  /** The transaction that was sent last, which no node knows any more. */
  async function takeFromPool(db: Db): Promise<Hex> {
    const { rows } = await db.query(
      `select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt order by nonce desc limit 1`,
    )
    await fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    return (rows[0] as { raw: Hex }).raw
  }

  /** The transaction comes back from a stranger's node and is mined. */
  async function mineAgain(raw: Hex): Promise<void> {
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 4 })
  }

  /** A backup that has the payment, but not the signature and the sending of its payout. */
  async function sendUnknown() {
    const backup = await copyDatabase(fixture.db)
    await rotation.queueOn(old, [payment])
    await rotation.before({ treasuryList: createList(old, successor) }).tick()
    expect((await rotation.found(payment)).state).toBe('broadcast')
    return { backup, raw: await takeFromPool(fixture.db) }
  }

  test.each(WAYS)('a payment whose payout is forgotten is canceled on chain before its refund, %s', async (how) => {
    const { backup, raw } = await sendUnknown()
    const { db } = backup
    try {
      await restore(backup, how)
      const runner = rotation.both({ db })
      await runner.tick()
      expect(await db.transaction((tx) => voidPayout(tx, payment.paymentId))).toBe('voiding')
      await fixture.finalize(runner, 4)
      expect((await readPayout(db, payment.paymentId))?.state).toBe('voided')
      await mineAgain(raw)
      expect(await fixture.balance(payment.recipient)).toBe(0n)
    } finally {
      backup.giveBack()
    }
  })

  test.each(WAYS)('a payment whose forgotten payout is faster than its void is settled, %s', async (how) => {
    const { backup, raw } = await sendUnknown()
    const { db } = backup
    try {
      await restore(backup, how)
      const runner = rotation.both({ db })
      await runner.tick()
      expect(await db.transaction((tx) => voidPayout(tx, payment.paymentId))).toBe('voiding')
      await mineAgain(raw)
      await fixture.finalize(runner, 4)
      expect((await readPayout(db, payment.paymentId))?.state).toBe('settled')
      expect(await fixture.balance(payment.recipient)).toBe(payment.micro)
    } finally {
      backup.giveBack()
    }
  })

  test('a payment without a payout is not voided if nothing was restored, or if it is newer than the restore', async () => {
    const ask = () => fixture.db.transaction((tx) => voidPayout(tx, payment.paymentId))
    expect(await ask()).toBe('none')
    await fixture.db.query('update chain_cursor set restored_at = now()')
    await fixture.db.query(`update payment set created_at = now() + interval '1 minute'`)
    expect(await ask()).toBe('none')
    await fixture.db.query(`update payment set created_at = now() - interval '1 minute'`)
    expect(await ask()).toBe('voiding')
  })

  test.each(WAYS)(
    'a lost treasury may have signed what is forgotten, and its successor waits for that, %s',
    async (how) => {
      const { backup, raw } = await sendUnknown()
      const { db } = backup
      try {
        await restore(backup, how)
        const runner = rotation.after({ db })
        await runner.tick()
        await queueAll({ db, treasury: old }, [payment])
        await takeOver(operationOn(rotation, backup), lowerCaseAddress(old), null)
        await fixture.finalize(runner, 3)
        await rotation.pass(MINUTES_UNTIL_SURE - 3, db)
        await fixture.finalize(runner, 3)
        expect((await readPayout(db, payment.paymentId))?.treasury).toBe(lowerCaseAddress(old))
        await rotation.pass(4, db)
        await fixture.finalize(runner, 5)
        expect((await readPayout(db, payment.paymentId))?.treasury).toBe(lowerCaseAddress(successor))
        await mineAgain(raw)
        await fixture.finalize(runner, 3)
        expect(await fixture.balance(payment.recipient)).toBe(payment.micro)
        expect((await readPayout(db, payment.paymentId))?.state).toBe('settled')
      } finally {
        backup.giveBack()
      }
    },
  )

  /** The successor has taken the payout over and paid it; the backup has it at the lost treasury. */
  async function forgetTakeOver() {
    await rotation.queueOn(old, [payment])
    const backup = await copyDatabase(fixture.db)
    const runner = rotation.after()
    await runner.tick()
    await takeOver(operationOn(rotation, { db: fixture.db, url: fixture.databaseUrl }), lowerCaseAddress(old), null)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(runner, 5)
    expect((await rotation.found(payment)).state).toBe('settled')
    expect((await fixture.payout(payment.paymentId)).treasury).toBe(lowerCaseAddress(successor))
    return backup
  }

  test.each(['taken over again', 'voided'])(
    'a payout whose take-over is forgotten, and that the successor has paid, ends by that transfer when it is %s',
    async (what) => {
      const backup = await forgetTakeOver()
      const { db } = backup
      try {
        const said: string[] = []
        expect(await rebuild(operationOn(rotation, backup, said))).toBe(1)
        expect(said).toContainEqual(
          expect.stringContaining(`pinrail settlement take-over ${lowerCaseAddress(old)} again`),
        )
        const runner = rotation.after({ db })
        await runner.tick()
        if (what === 'voided') await db.transaction((tx) => requestVoid(tx, payment.paymentId))
        else await takeOver(operationOn(rotation, backup), lowerCaseAddress(old), null)
        await rotation.pass(MINUTES_UNTIL_SURE, db)
        await fixture.finalize(runner, 5)
        expect(await readPayout(db, payment.paymentId)).toMatchObject({
          state: 'settled',
          treasury: lowerCaseAddress(successor),
        })
        expect(fixture.hookCalls.voided).toEqual([])
        expect(await fixture.balance(payment.recipient)).toBe(payment.micro)
      } finally {
        backup.giveBack()
      }
    },
  )
})
