import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Db } from '../../../src/db/db.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { addPayment, CHAIN_ID, openDatabase } from './database.ts'

/** What each state of a payout gives to do, and how much of the treasury's balance it holds. */

const scope = { livemode: false, chainId: CHAIN_ID, token: `0x${'c'.repeat(40)}` as Hex } as const
const TREASURY: Hex = `0x${'b'.repeat(40)}`
const LANE: Hex = `0x${'e'.repeat(40)}`
const MICRO = 1_000_000n
const SEEN_IN = 9

let db: Db
let close: () => Promise<void>
beforeAll(async () => {
  ;({ db, close } = await openDatabase())
  await addPayment(db, 'pay_1', { token: scope.token, destination: TREASURY })
})
afterAll(() => close())

type Row = {
  state: string
  holdReason?: 'funds' | 'operator'
  inLane?: true
  isSeen?: true
  rests?: true
  signatures?: readonly ('transfer' | 'cancel')[]
}

async function store({ state, holdReason, inLane, isSeen, rests, signatures = [] }: Row): Promise<void> {
  await db.query('truncate payout cascade')
  const identity: unknown[] = [scope.chainId, scope.token, TREASURY, MICRO.toString(), `0x${'1'.repeat(64)}`]
  await db.query(
    `insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce, state, hold_reason,
       lane_wallet, lane_nonce, mined_number, mined_hash, rests_until)
     values ('pay_1', false, $1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    identity.concat(
      [state, holdReason ?? null],
      inLane ? [LANE, 0] : [null, null],
      isSeen ? [SEEN_IN, `0x${'9'.repeat(64)}`] : [null, null],
      [rests ? '2100-01-01T00:00:00Z' : null],
    ),
  )
  for (const [seq, kind] of signatures.entries())
    await db.query(
      `insert into payout_signature (payment_id, seq, kind, valid_before, signature) values ('pay_1', $1, $2, $3, $4)`,
      [seq, kind, kind === 'transfer' ? 2_000_000_000 : null, Buffer.alloc(65)],
    )
}

const NOTHING = { sign: false, send: false, underWay: false }
const SIGN = { ...NOTHING, sign: true }
const SEND = { ...NOTHING, send: true, underWay: true }
const WAIT = { ...NOTHING, underWay: true }

test.each<[name: string, row: Row, work: object, promised: boolean]>([
  ['queued', { state: 'queued' }, SIGN, false],
  ['held for funds', { state: 'held', holdReason: 'funds' }, SIGN, false],
  ['held by an operator', { state: 'held', holdReason: 'operator' }, NOTHING, false],
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
])('%s', async (_, row, work, isPromised) => {
  await store(row)
  const journal = createSettlementJournal({ db, scope, hooks: {} as never })
  expect(await journal.readWork()).toEqual(work)
  const promised = async (block: number): Promise<bigint> => (await journal.readReserved(TREASURY, block)).micro
  expect(await promised(SEEN_IN - 1)).toBe(isPromised ? MICRO : 0n)
})

test('what was seen in a block is in the balance of that block, and promised no more', async () => {
  await store({ state: 'mined', isSeen: true, signatures: ['transfer'] })
  const journal = createSettlementJournal({ db, scope, hooks: {} as never })
  expect((await journal.readReserved(TREASURY, SEEN_IN)).micro).toBe(0n)
})
