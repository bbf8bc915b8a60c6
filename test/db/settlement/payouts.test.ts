import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isUnderWay } from '../../../src/chain/lead.ts'
import type { Db } from '../../../src/db/db.ts'
import type { SettlementHooks } from '../../../src/db/settlement/context.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { readChainCursor, readLanes, readQueue } from '../../../src/db/settlement/observer/standing.ts'
import {
  type NewPayout,
  queuePayout,
  readPayout,
  requestVoid,
  resumePayout,
  stopPayout,
} from '../../../src/db/settlement/payouts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { foundLogs, nothingFound, takeLane, takeLease, tryLead } from '../../chain/lead.ts'
import { addPayment, CHAIN_ID, openDatabase } from './database.ts'

const scope = { livemode: false, chainId: CHAIN_ID, token: `0x${'c'.repeat(40)}` as Hex } as const

let db: Db
let close: () => Promise<void>
beforeAll(async () => {
  ;({ db, close } = await openDatabase())
})
afterAll(() => close())

test('an engine whose parts request the first lead at the same moment takes none of them for another engine', async () => {
  const place = { scope: { ...scope, token: `0x${'e'.repeat(40)}` as Hex }, hooks: {} as SettlementHooks }
  const firstPart = createSettlementJournal({ db, ...place })
  let isTaken = false
  const query: Db['query'] = async (text, values) => {
    const rows = await db.query(text, values)
    if (!isTaken) {
      isTaken = true
      await takeLease(firstPart, { owner: 'one' })
    }
    return rows
  }
  const ask = { leaseMs: 60_000, wallets: [], treasuries: [] }
  const secondPart = createSettlementJournal({ db: { ...db, query }, ...place })
  expect(await secondPart.lead({ ...ask, owner: 'one' })).toEqual({ othersMs: 0 })
  expect(await secondPart.lead({ ...ask, owner: 'one' })).toMatchObject({ lease: { owner: 'one' } })
  const other = await firstPart.lead({ ...ask, owner: 'two' })
  expect(other !== null && 'othersMs' in other && other.othersMs).toBeGreaterThan(50_000)
})

/** A change of settlement that updates no row is a failure, and its other changes are not written. */
describe('A change that updates no row', () => {
  const TREASURY: Hex = `0x${'b'.repeat(40)}`
  const RECIPIENT: Hex = `0x${'d'.repeat(40)}`
  const PAYMENT = 'pay_rows'
  const settledIds: string[] = []
  const nothing = async (): Promise<void> => undefined
  const hooks = {
    onSettled: async (_tx: unknown, settlements: readonly { ownerId: string }[]) =>
      void settledIds.push(...settlements.map(({ ownerId }) => ownerId)),
    onStopped: nothing,
    onResumed: nothing,
    onVoided: nothing,
    onDeposit: nothing,
    onReturned: nothing,
    onTreasuryMovement: nothing,
    onBalanceDifference: nothing,
    onGas: nothing,
  }
  beforeAll(async () => {
    await addPayment(db, PAYMENT, { token: scope.token, destination: RECIPIENT })
  })

  /** From now on the table ignores such changes silently. */
  async function ignore(table: string, when: string): Promise<() => Promise<unknown>> {
    await db.query(
      `create or replace function ignored() returns trigger language plpgsql as $$ begin return null; end $$`,
    )
    await db.query(
      `create trigger ignored before update on ${table} for each row when (${when}) execute function ignored()`,
    )
    return () => db.query(`drop trigger ignored on ${table}`)
  }

  const createJournal = () => createSettlementJournal({ db, scope, hooks })

  test('a settlement that updates no payout is not reported, keeps its proof, and is made when possible', async () => {
    await db.transaction((tx) =>
      queuePayout(tx, { ...scope, paymentId: PAYMENT, treasury: TREASURY, recipient: RECIPIENT, microUsdc: '1000000' }),
    )
    const journal = createJournal()
    const lease = await takeLease(journal, { owner: 'one' })
    const block = { blockNumber: 2, blockHash: `0x${'3'.repeat(64)}` } as const
    const proof = {
      ...block,
      kind: 'out',
      treasury: TREASURY,
      txHash: `0x${'4'.repeat(64)}`,
      logIndex: 0,
      authNonce: payoutNonce({ ...scope, treasury: TREASURY, ownerId: PAYMENT }),
      counterparty: RECIPIENT,
      microUsdc: '1000000',
      gasShare: null,
    } as const
    await journal.recordLogs(lease, foundLogs([TREASURY], [proof]))
    const allow = await ignore('payout', `new.state = 'settled'`)
    const { ended, failed } = await journal.applyProven(100)
    expect([ended, failed.map(({ error }) => error.message)]).toEqual([
      0,
      ['payouts that are settled: 0 rows changed instead of 1'],
    ])
    expect(settledIds).toEqual([])
    expect((await db.query('select owner_id from treasury_log')).rows).toEqual([{ owner_id: null }])
    await allow()
    await db.query('update payout set hook_retry_at = now()')
    const prove = await ignore('treasury_log', 'new.owner_id is not null')
    expect((await journal.applyProven(100)).failed[0]?.error.message).toBe('their proofs: 0 rows changed instead of 1')
    expect(settledIds).toEqual([])
    await prove()
    await db.query('update payout set hook_retry_at = now()')
    expect(await journal.applyProven(100)).toEqual({ ended: 1, failed: [] })
    expect(settledIds).toEqual([PAYMENT])
  })

  test('a missing envelope cannot end', async () => {
    const journal = createJournal()
    const lane = await takeLane(journal, { owner: 'one', wallet: `0x${'e'.repeat(40)}`, nonce: 7 })
    const ended = { ends: [{ nonce: 7, state: 'foreign' }], chainTime: 0, found: nothingFound() } as const
    await expect(journal.endEnvelopes(lane, ended)).rejects.toThrow(
      'envelopes that are final: 0 rows changed instead of 1',
    )
  })
})

describe('payouts', () => {
  const TOKEN: Hex = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
  const TREASURY = `0x${'b'.repeat(40)}` as const

  let numbers = 0
  async function newPayout(changes: Partial<NewPayout> = {}): Promise<NewPayout> {
    numbers += 1
    const paymentId = `pay_${numbers}`
    await addPayment(db, paymentId, { token: TOKEN, destination: TOKEN })
    const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    return {
      paymentId,
      livemode: false,
      chainId: 31337,
      token: TOKEN,
      treasury: TREASURY,
      recipient,
      microUsdc: '1000000',
      ...changes,
    }
  }
  const queue = (payout: NewPayout) => db.transaction((tx) => queuePayout(tx, payout))

  describe('A payout', () => {
    test('a payout is queued once, with the nonce of its payment and lower-case addresses', async () => {
      const payout = await newPayout()
      await queue(payout)
      await queue(payout)
      const nonce = payoutNonce({ chainId: 31337, token: TOKEN, treasury: TREASURY, ownerId: payout.paymentId })
      expect(await readPayout(db, payout.paymentId)).toMatchObject({
        state: 'queued',
        recipient: payout.recipient.toLowerCase(),
        authNonce: nonce,
        txHash: null,
        proof: null,
      })
    })

    test('a payout that is queued again with another recipient or amount is refused', async () => {
      const payout = await newPayout()
      await queue(payout)
      const queued = await readPayout(db, payout.paymentId)
      for (const change of [{ recipient: TREASURY }, { microUsdc: '1' }, { token: TREASURY }, { chainId: 137 }])
        await expect(queue({ ...payout, ...change })).rejects.toThrow(`of payout ${payout.paymentId} are fixed`)
      expect(await readPayout(db, payout.paymentId)).toEqual(queued)
    })

    test('a stopped payout that is queued again goes back into the queue', async () => {
      const payout = await newPayout()
      await queue(payout)
      await db.query(
        "update payout set state = 'stopped', stop_reason = 'policy', stop_detail = 'x', refusals = 3 where payment_id = $1",
        [payout.paymentId],
      )
      await queue(payout)
      const { rows } = await db.query('select state, stop_reason, refusals from payout where payment_id = $1', [
        payout.paymentId,
      ])
      expect(rows).toEqual([{ state: 'queued', stop_reason: null, refusals: 0 }])
    })

    test.each(['authorized', 'voiding', 'voided'])(
      'a payout that is %s stays so when it is queued again',
      async (state) => {
        const payout = await newPayout()
        await queue(payout)
        if (state === 'voided') await prove(payout.paymentId)
        await db.query('update payout set state = $2 where payment_id = $1', [payout.paymentId, state])
        const before = await readPayout(db, payout.paymentId)
        await queue(payout)
        expect([before?.state, await readPayout(db, payout.paymentId)]).toEqual([state, before])
      },
    )

    test('a payout of zero, or to an invalid address, is refused', async () => {
      await expect(newPayout({ microUsdc: '0' }).then(queue)).rejects.toThrow('payout_micro_usdc_check')
      await expect(newPayout({ recipient: '0x12' }).then(queue)).rejects.toThrow('not an address')
    })

    test.each([
      ['recipient', `0x${'c'.repeat(40)}`],
      ['micro_usdc', '2'],
      ['treasury', `0x${'c'.repeat(40)}`],
      ['auth_nonce', `0x${'c'.repeat(64)}`],
      ['livemode', 'true'],
    ])('a payout keeps its %s, whatever code writes', async (column, value) => {
      const payout = await newPayout()
      await queue(payout)
      await expect(
        db.query(`update payout set ${column} = $2 where payment_id = $1`, [payout.paymentId, value]),
      ).rejects.toThrow('are fixed')
    })

    const prove = (paymentId: string) =>
      db.query(`insert into void_proof values ($1, 1, $2, 2000, 1000)`, [paymentId, `0x${'a'.repeat(64)}`])

    test('a payout is never voided without a proof, which says that its signatures have expired', async () => {
      const payout = await newPayout()
      await queue(payout)
      const change = () => db.query(`update payout set state = 'voided' where payment_id = $1`, [payout.paymentId])
      await expect(change()).rejects.toThrow('cannot be voided without a proof')
      await expect(
        db.query(`insert into void_proof values ($1, 1, $2, 999, 1000)`, [payout.paymentId, `0x${'a'.repeat(64)}`]),
      ).rejects.toThrow('check')
      await prove(payout.paymentId)
      await change()
    })

    test.each(['settled', 'voided'])('a payout that is %s stays so, whatever code writes', async (state) => {
      const payout = await newPayout()
      await queue(payout)
      if (state === 'voided') await prove(payout.paymentId)
      await db.query('update payout set state = $2 where payment_id = $1', [payout.paymentId, state])
      for (const other of ['queued', 'voiding', state === 'settled' ? 'voided' : 'settled'])
        await expect(
          db.query('update payout set state = $2 where payment_id = $1', [payout.paymentId, other]),
        ).rejects.toThrow('stays so')
      expect(await db.transaction((tx) => requestVoid(tx, payout.paymentId))).toBe(false)
    })

    test('a payout can be stopped, released and voided by an operator while it is in the queue', async () => {
      const payout = await newPayout()
      await queue(payout)
      expect(await db.transaction((tx) => stopPayout(tx, payout.paymentId, 'to be looked at'))).toBe(true)
      expect(await readPayout(db, payout.paymentId)).toMatchObject({
        state: 'stopped',
        stopReason: 'operator',
        stopDetail: 'to be looked at',
      })
      expect(await db.transaction((tx) => resumePayout(tx, payout.paymentId))).toBe(true)
      expect(await db.transaction((tx) => resumePayout(tx, payout.paymentId))).toBe(false)
      expect(await db.transaction((tx) => requestVoid(tx, payout.paymentId))).toBe(true)
      expect(await db.transaction((tx) => stopPayout(tx, payout.paymentId, 'too late'))).toBe(false)
      expect((await readPayout(db, payout.paymentId))?.state).toBe('voiding')
    })

    test('payouts are counted by state and reason, for an operator', async () => {
      const payout = await newPayout({ chainId: 4242 })
      await queue(payout)
      const scope = { chainId: 4242, token: TOKEN } as const
      const one = { count: 1, micro: '1000000', oldestSeconds: expect.any(Number) }
      expect(await readQueue(db, scope)).toEqual([{ state: 'queued', reason: null, ...one }])
      expect([await readChainCursor(db, scope), await readLanes(db, scope)]).toEqual([null, []])
      await db.transaction((tx) => stopPayout(tx, payout.paymentId, 'why'))
      expect(await readQueue(db, scope)).toEqual([{ state: 'stopped', reason: 'operator', ...one }])
    })

    test('payouts take turns: a long queue of one merchant delays no other, and no merchant is skipped', async () => {
      await db.query(`delete from payout where state = 'queued'`)
      const scope = { livemode: false, chainId: 31337, token: TOKEN }
      const journal = createSettlementJournal({ db, scope, hooks: {} as SettlementHooks })
      const recipients = [1, 2, 3, 4, 5].map((digit): Hex => `0x${String(digit).repeat(40)}`)
      const long = recipients[4]!
      for (const recipient of [long, long, long, long, ...recipients]) await queue(await newPayout({ recipient }))
      const turn = async (after: number | null, limit: number) => {
        const { payouts, next } = await journal.readPayable({
          keys: [TREASURY],
          limit,
          after: after === null ? null : recipients[after - 1]!,
        })
        return { of: payouts.map(({ recipient }) => recipient[2]).join(''), next: next?.[2] ?? null }
      }
      // One of each at first, also of those that came later; the rest by age.
      expect(await turn(null, 3)).toEqual({ of: '123', next: '3' })
      expect(await turn(3, 2)).toEqual({ of: '54', next: '5' })
      expect(await turn(5, 2)).toEqual({ of: '12', next: '2' })
      expect(await turn(4, 3)).toEqual({ of: '555', next: null })
      expect(await turn(null, 7)).toEqual({ of: '512345', next: null })
      expect(await turn(2, 20)).toEqual({ of: '534555512', next: null })
    })

    test('a payout accepts only its own treasury’s signatures: another one can have taken it over in between', async () => {
      const payout = await newPayout()
      await queue(payout)
      const scope = { livemode: false, chainId: 31337, token: TOKEN }
      const journal = createSettlementJournal({ db, scope, hooks: {} as SettlementHooks })
      const signature = { kind: 'transfer', validBefore: 2_000_000_000, signature: `0x${'12'.repeat(65)}` } as const
      const store = (treasury: Hex) =>
        journal.storeSignatures([{ ownerId: payout.paymentId, treasury, signature }], { maxMicroPerDay: 10n ** 12n })
      await store(`0x${'c'.repeat(40)}`)
      expect((await readPayout(db, payout.paymentId))?.state).toBe('queued')
      expect((await journal.readSignedBefore([payout.paymentId])).size).toBe(0)
      await store(TREASURY)
      expect((await readPayout(db, payout.paymentId))?.state).toBe('authorized')
    })

    test('payouts of a merchant that is suspended with them are not signed, and are when it is resumed', async () => {
      await db.query(`delete from payout where state = 'queued'`)
      const payout = await newPayout()
      await queue(payout)
      const scope = { livemode: false, chainId: 31337, token: TOKEN }
      const journal = createSettlementJournal({ db, scope, hooks: {} as SettlementHooks })
      const readPayable = async () =>
        (await journal.readPayable({ keys: [TREASURY], limit: 10, after: null })).payouts.map(({ ownerId }) => ownerId)
      const signature = { kind: 'transfer', validBefore: 2_000_000_000, signature: `0x${'12'.repeat(65)}` } as const
      const sign = () =>
        journal.storeSignatures([{ ownerId: payout.paymentId, treasury: TREASURY, signature }], {
          maxMicroPerDay: 10n ** 12n,
        })
      const setAgreement = (status: string, holds: boolean) =>
        db.query('update agreement set status = $1, holds_payouts = $2', [status, holds])
      await setAgreement('suspended', true)
      expect(await readPayable()).toEqual([])
      const queueNow = await readQueue(db, { chainId: 31337, token: TOKEN })
      expect(queueNow).toContainEqual(expect.objectContaining({ state: 'stopped', reason: 'merchant', count: 1 }))
      // The engine might have read it before the suspension.
      await sign()
      expect((await readPayout(db, payout.paymentId))?.state).toBe('queued')
      expect((await journal.readSignedBefore([payout.paymentId])).size).toBe(0)
      await setAgreement('suspended', false)
      expect(await readPayable()).toEqual([payout.paymentId])
      await setAgreement('suspended', true)
      await setAgreement('approved', false)
      expect(await readPayable()).toEqual([payout.paymentId])
      await sign()
      expect((await readPayout(db, payout.paymentId))?.state).toBe('authorized')
    })

    test('a payout of no payment is unknown', async () => {
      expect(await readPayout(db, 'pay_nobody')).toBeNull()
    })
  })

  describe('A hook that fails', () => {
    const settledIds: string[] = []
    let failing: string | null = null
    const hooks: SettlementHooks = {
      onSettled: async (tx, settlements) => {
        for (const { ownerId } of settlements) {
          await tx.query('update payment set reference = $2 where id = $1', [ownerId, 'by hook'])
          if (ownerId === failing) throw new Error('the payment is in a strange state')
          settledIds.push(ownerId)
        }
      },
      onStopped: async () => undefined,
      onResumed: async () => undefined,
      onDeposit: async () => undefined,
      onReturned: async () => undefined,
      onVoided: async () => undefined,
      onTreasuryMovement: async () => undefined,
      onBalanceDifference: async () => undefined,
      onGas: async () => undefined,
    }

    test('a failing hook keeps only its own payment from being settled; its proof is not lost and it is tried again', async () => {
      const payouts = [await newPayout(), await newPayout(), await newPayout()]
      for (const payout of payouts) await queue(payout)
      const scope = { livemode: false, chainId: 31337, token: TOKEN } as const
      const journal = createSettlementJournal({ db, scope, hooks })
      const lease = await takeLease(journal, { owner: 'one' })
      const logs = payouts.map(({ paymentId, recipient, microUsdc }, index) => ({
        kind: 'out' as const,
        treasury: TREASURY,
        txHash: `0x${'2'.repeat(64)}` as const,
        logIndex: index,
        blockNumber: 2,
        blockHash: `0x${'3'.repeat(64)}` as const,
        authNonce: payoutNonce({ chainId: 31337, token: TOKEN, treasury: TREASURY, ownerId: paymentId }),
        counterparty: recipient.toLowerCase() as `0x${string}`,
        microUsdc,
        gasShare: null,
      }))
      await journal.recordLogs(lease, foundLogs([TREASURY], logs))
      failing = payouts[1]!.paymentId
      const first = await journal.applyProven(100)
      expect(first).toMatchObject({ ended: 2, failed: [{ ownerId: failing }] })
      const states = async () =>
        Promise.all(payouts.map(async ({ paymentId }) => (await readPayout(db, paymentId))?.state))
      expect(await states()).toEqual(['settled', 'queued', 'settled'])
      expect((await readPayout(db, failing))?.hookError).toBe('the payment is in a strange state')
      // The rows of the failing hook were rolled back.
      const marked = await db.query('select id from payment where reference = $1 order by id', ['by hook'])
      expect(marked.rows.map((row: { id: string }) => row.id)).not.toContain(failing)
      expect(await journal.applyProven(100)).toMatchObject({ ended: 0, failed: [] })
      await db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [failing])
      failing = null
      expect(await journal.applyProven(100)).toMatchObject({ ended: 1, failed: [] })
      expect(await states()).toEqual(['settled', 'settled', 'settled'])
      expect(await journal.applyProven(100)).toMatchObject({ ended: 0, failed: [] })
    })
  })
})

/** The work for each state of a payout, and the part of the treasury's balance that it reserves. */
describe('The work of a payout', () => {
  const TREASURY: Hex = `0x${'b'.repeat(40)}`
  const LANE: Hex = `0x${'e'.repeat(40)}`
  const MICRO = 1_000_000n
  const SEEN_IN = 9
  beforeAll(async () => {
    await addPayment(db, 'pay_work', { token: scope.token, destination: TREASURY })
  })

  type Row = {
    state: string
    stopReason?: 'funds' | 'operator'
    inLane?: true
    isSeen?: true
    rests?: true
    signatures?: readonly ('transfer' | 'cancel')[]
  }

  async function store({ state, stopReason, inLane, isSeen, rests, signatures = [] }: Row): Promise<void> {
    await db.query('truncate payout cascade')
    const identity: unknown[] = [scope.chainId, scope.token, TREASURY, MICRO.toString(), `0x${'1'.repeat(64)}`]
    await db.query(
      `insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce, state, stop_reason,
       lane_wallet, lane_nonce, mined_number, rests_until)
     values ('pay_work', false, $1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      identity.concat(
        [state, stopReason ?? null],
        inLane ? [LANE, 0] : [null, null],
        [isSeen ? SEEN_IN : null],
        [rests ? '2100-01-01T00:00:00Z' : null],
      ),
    )
    for (const [seq, kind] of signatures.entries())
      await db.query(
        `insert into payout_signature (owner_id, seq, kind, valid_before, signature) values ('pay_work', $1, $2, $3, $4)`,
        [seq, kind, kind === 'transfer' ? 2_000_000_000 : null, Buffer.alloc(65)],
      )
  }

  const NOTHING = { sign: false, send: false, underWay: false }
  const SIGN = { ...NOTHING, sign: true }
  const SEND = { ...NOTHING, send: true, underWay: true }
  const WAIT = { ...NOTHING, underWay: true }

  test.each<[name: string, row: Row, work: object, promised: boolean]>([
    ['queued', { state: 'queued' }, SIGN, false],
    ['stopped for funds', { state: 'stopped', stopReason: 'funds' }, SIGN, false],
    ['stopped by an operator', { state: 'stopped', stopReason: 'operator' }, NOTHING, false],
    ['signed', { state: 'authorized', signatures: ['transfer'] }, SEND, true],
    ['in an envelope', { state: 'assigned', inLane: true, signatures: ['transfer'] }, WAIT, true],
    ['seen, in an envelope', { state: 'mined', inLane: true, isSeen: true, signatures: ['transfer'] }, WAIT, true],
    ['seen, carried by somebody else', { state: 'mined', isSeen: true, signatures: ['transfer'] }, WAIT, true],
    ['a void of what was never signed', { state: 'voiding' }, { ...WAIT, sign: true }, false],
    ['a void of what may be on its way', { state: 'voiding', signatures: ['transfer'] }, { ...WAIT, sign: true }, true],
    ['a void that is signed', { state: 'voiding', signatures: ['transfer', 'cancel'] }, SEND, true],
    ['a void in an envelope', { state: 'voiding', inLane: true, signatures: ['transfer', 'cancel'] }, WAIT, true],
    ['a void that rests', { state: 'voiding', rests: true, signatures: ['transfer'] }, NOTHING, true],
    ['settled', { state: 'settled', isSeen: true, signatures: ['transfer'] }, NOTHING, false],
    ['voided', { state: 'voided', signatures: ['transfer', 'cancel'] }, NOTHING, false],
  ])('a payout has its work: %s', async (_, row, work, isPromised) => {
    await store(row)
    const journal = createSettlementJournal({ db, scope, hooks: {} as never })
    const lead = (await tryLead(journal, { owner: 'one', treasuries: [TREASURY] }))!
    expect({ sign: lead.work.sign, send: lead.work.send, underWay: isUnderWay(lead) }).toEqual(work)
    const promised = async (block: number): Promise<bigint> => (await journal.readReserved(TREASURY, block)).micro
    expect(await promised(SEEN_IN - 1)).toBe(isPromised ? MICRO : 0n)
  })

  test('a payout that was seen in a block is in the balance of that block, and not reserved any more', async () => {
    await store({ state: 'mined', isSeen: true, signatures: ['transfer'] })
    const journal = createSettlementJournal({ db, scope, hooks: {} as never })
    expect((await journal.readReserved(TREASURY, SEEN_IN)).micro).toBe(0n)
  })
})
