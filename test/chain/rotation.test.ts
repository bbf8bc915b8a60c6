import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { deriveAddress } from '../../scripts/system/environment.ts'
import { poll } from '../../scripts/system/waiting.ts'
import { createKeyAccount } from '../../src/chain/keys/private-key.ts'
import { readWorkerConfig } from '../../src/config/config.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { listSettlementAttention, readTakeOvers, readWanting } from '../../src/db/settlement/observer/standing.ts'
import { acknowledgeTransfers } from '../../src/db/settlement/operator.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { readTreasuryList, recordLoss } from '../../src/db/settlement/signing/treasuries.ts'
import { openTreasuries } from '../../src/deps/keys.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { firstPaymentId } from '../../src/domain/ids.ts'
import { summarizeStanding } from '../../src/domain/settlement/answer.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { readStanding } from '../../src/operator/status.ts'
import { mintUsdc } from '../../src/sandbox/chain.ts'
import { copyDatabase } from './databases.ts'
import {
  createFixture,
  createSettings,
  type Fixture,
  insertPayments,
  newAddress,
  newKey,
  queueAll,
  TOKEN,
} from './fixture.ts'
import { takeLease } from './lead.ts'
import {
  createList,
  createSigner,
  idAt,
  lowerCaseAddress,
  MINUTES_UNTIL_DEAD,
  newPaymentId,
  ROTATED_AT,
  useRotation,
} from './rotation-fixture.ts'

const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }

describe('a rotation by the variables of a worker', () => {
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
  const [old, successor] = [oldKey, newTreasuryKey].map((key) => deriveAddress(key).toLowerCase())
  const TREASURIES = `${old}, ${successor}@2040-01-01T00:00:00Z`
  let fixture: Fixture
  beforeAll(async () => {
    const created = await createFixture()
    fixture = { ...created, treasury: createKeyAccount(oldKey) }
    for (const key of [oldKey, newTreasuryKey])
      await mintUsdc(fixture.chain, { to: createKeyAccount(key).address, micro: 1_000_000_000n })
  })
  afterAll(() => fixture.stop())

  async function createRunner(changes: Record<string, string>) {
    const treasuries = await openTreasuries(workerWith(changes))
    return fixture.runner({ treasuries: treasuries.signers, treasuryList: treasuries.list })
  }
  const state = async (paymentId: string) => (await fixture.payout(paymentId)).state

  test('each treasury pays and cancels the payments of its time', async () => {
    const single = await createRunner({ TREASURY_KEY: oldKey })
    await single.assertReady()
    await single.tick()
    const [before, unwanted] = await queueAll(fixture, [{}, {}])
    const runner = await createRunner({ TREASURY_KEY: newTreasuryKey, RETIRED_TREASURY_KEYS: ` ${oldKey}`, TREASURIES })
    await runner.assertReady()
    await fixture.db.transaction((tx) => requestVoid(tx, unwanted!.paymentId))
    await runner.tick()
    const [after] = await queueAll({ ...fixture, treasury: createKeyAccount(newTreasuryKey) }, [
      { paymentId: newPaymentId() },
    ])
    await fixture.finalize(runner, 3)
    for (const { paymentId, recipient, micro } of [before!, after!]) {
      expect(await state(paymentId)).toBe('settled')
      expect(await fixture.balance(recipient)).toBe(micro)
    }
    expect(await state(unwanted!.paymentId)).toBe('voided')
    expect(fixture.hookCalls.voided.at(-1)).toMatchObject({ kind: 'canceled', ownerId: unwanted!.paymentId })
  })

  test.each([
    ['the key of a treasury is configured twice', { TREASURY_KEY: oldKey, RETIRED_TREASURY_KEYS: oldKey }],
    [
      `TREASURIES must name ${successor}, whose key is configured`,
      { TREASURY_KEY: oldKey, RETIRED_TREASURY_KEYS: newTreasuryKey },
    ],
  ])('a worker does not start: %s', async (why, changes) => {
    await expect((await createRunner(changes)).assertReady()).rejects.toThrow(why)
  })
})

describe('the list of treasuries', () => {
  const rotation = useRotation()
  const { fixture, old, successor } = rotation
  const third = createKeyAccount(newKey())
  const stamp = (list: ReturnType<typeof createList>, keys: readonly Hex[] = []) =>
    createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks }).stampTreasuries({ list, keys })
  const stamped = async () =>
    (await readTreasuryList(fixture.db, scope)).map(({ address, firstId }) => ({ address, firstId }))

  const isStamping = async () =>
    (
      await fixture.db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`,
      )
    ).rows.length === 1

  test('a worker with another list than the stamped one is refused, and reads what to append', async () => {
    await rotation.after().tick()
    const [first, second] = createList(old, successor)
    for (const changed of [
      [first!],
      createList(successor),
      createList(successor, old),
      [first!, { ...second!, firstId: idAt(ROTATED_AT + 1) }],
    ])
      expect(await stamp(changed)).toContain(
        `TREASURIES must begin with ${lowerCaseAddress(old)},${lowerCaseAddress(successor)}@2040-01-01T00:00:00Z`,
      )
    const runner = rotation.before()
    await expect(runner.tick()).rejects.toThrow('Append a new treasury with its date')
    await expect(runner.run(new AbortController().signal)).rejects.toThrow('never change or remove an entry')
    expect(await stamped()).toEqual(createList(old, successor))
    expect(await stamp(createList(old, successor, third))).toBeNull()
  })

  test('a treasury cannot begin before an existing payment, whether its payout is known or forgotten', async () => {
    expect(await stamp(createList(old))).toBeNull()
    const late = newPaymentId()
    await insertPayments(fixture.db, [{ paymentId: late, recipient: newAddress() }])
    const refusal = await stamp(createList(old, successor))
    expect(refusal).toContain(`${late} was made at 2040-01-01T00:00:01Z`)
    expect(refusal).toContain(`${lowerCaseAddress(successor)}@2040-01-01T00:11:00Z`)
    expect(await stamped()).toEqual(createList(old))
    const [first, second] = createList(old, successor)
    expect(await stamp([first!, { ...second!, firstId: idAt(ROTATED_AT + 660_000) }])).toBeNull()
  })

  test('two workers that stamp at the same moment leave one list, and the other worker is refused', async () => {
    expect(await stamp(createList(old))).toBeNull()
    const answers = await Promise.all([stamp(createList(old, successor)), stamp(createList(old, third))])
    expect(answers.filter((refusal) => refusal === null)).toHaveLength(1)
    const winner = answers[0] === null ? successor : third
    expect(await stamped()).toEqual(createList(old, winner))
  })

  test('a payout is queued only on the treasury of its payment, also while a new treasury is being stamped', async () => {
    await rotation.both().tick()
    const queued = rotation.queueOn(old, [{ paymentId: newPaymentId() }])
    await expect(queued).rejects.toThrow('TREASURIES of this process is not the list of the database')
    await expect(rotation.queueOn(successor, [{}])).rejects.toThrow(`treasury ${lowerCaseAddress(old)} pays`)
    const next = createKeyAccount(newKey())
    const paymentId = idAt(Date.UTC(2041, 0, 1) + 5)
    let stamping: Promise<string | null> = Promise.resolve(null)
    await fixture.db.transaction(async (tx) => {
      const slow = { ...fixture.db, transaction: (work: (one: typeof tx) => Promise<unknown>) => work(tx) }
      await queueAll({ db: slow as Fixture['db'], treasury: successor }, [{ paymentId }])
      stamping = stamp(createList(old, successor, next))
      await poll(isStamping, { withinMs: 20_000, everyMs: 20, what: 'the worker that stamps to wait' })
    })
    expect(await stamping).toContain(`${paymentId} was made at`)
  })

  test('payouts of a treasury whose key no worker has wait, are listed for operators, and stop nothing', async () => {
    await rotation.before().tick()
    const [queued] = await rotation.queueOn(old, [{}])
    await fixture.finalize(rotation.after())
    expect(await rotation.found(queued!)).toMatchObject({ state: 'queued' })
    expect(fixture.hookCalls.stopped).toEqual([])
    expect(await listSettlementAttention(fixture.db)).toEqual([
      { kind: 'no_key', subject: lowerCaseAddress(old), detail: 'open payouts: 1' },
    ])
    // USDC would not help them.
    expect(await readWanting(fixture.db, scope)).toEqual([])
    await fixture.finalize(rotation.both(), 3)
    expect(await rotation.found(queued!)).toMatchObject({ state: 'settled' })
    expect(await listSettlementAttention(fixture.db)).toEqual([])
  })

  test('the status page names the treasury that lacks USDC, although a newer one pays by now', async () => {
    const list = [
      { address: lowerCaseAddress(old), firstId: null },
      { address: lowerCaseAddress(successor), firstId: firstPaymentId(1) },
    ]
    const runner = rotation.both({ treasuryList: list })
    await runner.tick()
    const balance = await fixture.balance(old.address)
    await rotation.queueOn(old, [{ micro: balance / 2n + 1n }, { micro: balance / 2n + 1n }])
    await fixture.finalize(runner, 2)
    const { troubles } = summarizeStanding(await readStanding({ db: fixture.db, settings: createSettings(fixture) }))
    expect(troubles.map(({ todo }) => todo)).toEqual([
      expect.stringContaining(`to the treasury ${lowerCaseAddress(old)}.`),
    ])
  })
})

describe('backups and rotations', () => {
  const rotation = useRotation()
  const { fixture, old, successor } = rotation

  test('a payment is paid by one transfer through an old backup, a rotation, and the backup once more', async () => {
    await rotation.before().tick()
    const payment = { paymentId: idAt(Date.UTC(2039, 0, 1)), recipient: newAddress(), micro: 4000n }
    await insertPayments(fixture.db, [payment])
    const backups = [await copyDatabase(fixture.db), await copyDatabase(fixture.db)]
    await rotation.queueOn(old, [payment])
    await rotation.before().tick()
    expect((await rotation.found(payment)).state).toBe('broadcast')
    try {
      for (const { db } of backups) {
        const runner = rotation.both({ db })
        await runner.tick()
        await expect(queueAll({ db, treasury: successor }, [payment])).rejects.toThrow('TREASURIES of this process')
        await queueAll({ db, treasury: old }, [payment])
        await fixture.finalize(runner, 4)
        expect((await readPayout(db, payment.paymentId))?.state).toBe('settled')
      }
    } finally {
      for (const backup of backups) backup.giveBack()
    }
    expect(await fixture.balance(payment.recipient)).toBe(payment.micro)
  })
})

describe('a treasury whose key is lost', () => {
  const rotation = useRotation()
  const { fixture, old, successor } = rotation
  beforeEach(async () => {
    await rotation.before().tick()
  })

  const lose = (to: Hex | null = null) =>
    fixture.db.transaction((tx) => recordLoss(tx, scope, { lost: lowerCaseAddress(old), to }))
  const pausedReason = async (): Promise<string | null> =>
    ((await fixture.db.query('select pause from chain_cursor')).rows[0] as { pause: string | null }).pause

  test('a lost treasury is replaced by its successor after one act, and no payout is paid before its proof', async () => {
    const [signed] = await rotation.queueOn(old, [{}])
    await rotation.before({ options: { maxInFlight: 0 } }).tick()
    const [fresh] = await rotation.queueOn(old, [{}])
    const unsent = rotation.after({ options: { maxInFlight: 0 } })
    await unsent.tick()
    const payers = async () =>
      await Promise.all([signed!, fresh!].map(async ({ paymentId }) => (await fixture.payout(paymentId)).treasury))
    expect(await lose()).toBe(lowerCaseAddress(successor))
    await rotation.pass(MINUTES_UNTIL_DEAD - 3)
    await fixture.finalize(unsent, 3)
    expect(await payers()).toEqual([lowerCaseAddress(old), lowerCaseAddress(old)])
    await rotation.pass(4)
    const [later] = await rotation.queueOn(old, [{}])
    const runner = rotation.after()
    await fixture.finalize(runner, 6)
    expect(await payers()).toEqual([lowerCaseAddress(successor), lowerCaseAddress(successor)])
    for (const payout of [fresh!, signed!, later!]) {
      expect(await rotation.found(payout)).toMatchObject({ state: 'settled' })
      expect(await fixture.balance(payout.recipient)).toBe(payout.micro)
    }
    const { rows } = await fixture.db.query('select distinct block_time >= valid_before as proved from payout_takeover')
    expect(rows).toEqual([{ proved: true }])
    await expect(rotation.both().tick()).rejects.toThrow(
      `was taken over by ${lowerCaseAddress(successor)}: remove its key`,
    )
  })

  test('a lost treasury keeps its payments on chain, and its log ends that payout', async () => {
    const [paid] = await rotation.queueOn(old, [{}])
    const runner = rotation.after()
    await runner.tick()
    await rotation.carry(old, paid!)
    await fixture.chain.mine({ blocks: 4 })
    await lose()
    await fixture.finalize(runner, 3)
    expect(await rotation.found(paid!)).toMatchObject({ state: 'settled' })
    expect(await fixture.balance(paid!.recipient)).toBe(paid!.micro)
  })

  test('a lost treasury whose thief uses the nonce of a payout that was taken over pauses everything', async () => {
    const [moved] = await rotation.queueOn(old, [{}])
    const runner = rotation.after()
    await runner.tick()
    await lose()
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(runner, 4)
    expect(await rotation.found(moved!)).toMatchObject({ state: 'settled' })
    expect(await pausedReason()).toBeNull()
    const theft = await rotation.carry(old, moved!)
    const [next] = await rotation.queueOn(successor, [{ paymentId: newPaymentId() }])
    await fixture.chain.mine({ blocks: 4 })
    await fixture.finalize(runner)
    expect(await pausedReason()).toContain(theft)
    expect((await rotation.found(next!)).state).not.toBe('settled')
    await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, theft))
    await fixture.finalize(runner, 3)
    expect(await rotation.found(next!)).toMatchObject({ state: 'settled' })
  })

  test('a lost treasury whose thief is faster than the successor pauses everything', async () => {
    const [moved] = await rotation.queueOn(old, [{}])
    const waiting = rotation.after({ options: { maxInFlight: 0 } })
    await waiting.tick()
    await lose()
    await rotation.pass(MINUTES_UNTIL_DEAD)
    for (let round = 0; round < 3; round++) await waiting.tick()
    expect((await rotation.found(moved!)).state).toBe('authorized')
    const theft = await rotation.carry(old, moved!)
    await fixture.chain.mine({ blocks: 4 })
    await waiting.tick()
    expect(await pausedReason()).toContain(theft)
  })

  test('a lost treasury keeps a payout if a signature of it is stored while the proof is being written', async () => {
    const [queued] = await rotation.queueOn(old, [{}])
    await rotation.after({ options: { maxInFlight: 0 } }).tick()
    await lose()
    const journal = createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
    const [expiring] = await journal.readExpiring({ keys: [], validity: 3300, limit: 1 })
    expect(expiring).toMatchObject({ ownerId: queued!.paymentId, successor: lowerCaseAddress(successor) })
    await fixture.db.query(
      `insert into payout_signature (owner_id, seq, kind, valid_before, signature)
       values ($1, 1, 'transfer', 4000000000, decode(repeat('ab', 65), 'hex'))`,
      [queued!.paymentId],
    )
    const { number, hash, timestamp } = await fixture.chain.getBlock({ blockTag: 'finalized' })
    const block = { number: Number(number), hash, timestamp: Number(timestamp) }
    const lease = await takeLease(journal, { owner: 'late' })
    const to = lowerCaseAddress(successor)
    const toNonce = payoutNonce({ ...scope, treasury: to, ownerId: queued!.paymentId })
    expect(await journal.moveDead(lease, { block, dead: [{ ...expiring!, to, toNonce }] })).toBe(0)
    expect((await fixture.payout(queued!.paymentId)).treasury).toBe(lowerCaseAddress(old))
  })

  test('a lost treasury is listed for operators when its payouts have waited for two hours', async () => {
    await rotation.queueOn(old, [{}])
    await rotation.before({ options: { maxInFlight: 0 } }).tick()
    await rotation.after({ options: { maxInFlight: 0 } }).tick()
    await lose()
    await fixture.finalize(rotation.after({ options: { maxInFlight: 0 } }))
    expect(await listSettlementAttention(fixture.db)).toEqual([])
    const takeOver = { from: lowerCaseAddress(old), to: lowerCaseAddress(successor), count: 1 }
    expect(await readTakeOvers(fixture.db, scope)).toMatchObject([takeOver])
    await fixture.db.query(`update treasury set lost_at = lost_at - interval '3 hours'`)
    await fixture.db.query(`update payout set created_at = created_at - interval '3 hours'`)
    const detail = `open payouts, for ${lowerCaseAddress(successor)}: 1`
    expect(await listSettlementAttention(fixture.db)).toEqual([
      { kind: 'take_over', subject: lowerCaseAddress(old), detail },
    ])
  })

  test('a lost treasury signs no further transfer, also if an engine that has its key still runs', async () => {
    const stale = rotation.both({ options: { maxInFlight: 0 } })
    await stale.tick()
    const [queued] = await rotation.queueOn(old, [{}])
    const journal = createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
    const keys = [lowerCaseAddress(old)]
    const [payout] = (await journal.readPayable({ keys, limit: 1, after: null })).payouts
    await lose()
    expect((await journal.readPayable({ keys, limit: 1, after: null })).payouts).toEqual([])
    // It was chosen before, and is signed now.
    const signature = await createSigner(old).signTransfer(payout!, 4_000_000_000)
    const signed = [{ ownerId: queued!.paymentId, treasury: lowerCaseAddress(old), signature }]
    await journal.storeSignatures(signed, { maxMicroPerDay: 10n ** 15n })
    expect((await fixture.db.query('select from payout_signature')).rows).toEqual([])
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(rotation.after(), 4)
    expect(await rotation.found(queued!)).toMatchObject({ state: 'settled' })
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
  })
})
