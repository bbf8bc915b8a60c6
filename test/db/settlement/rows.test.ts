import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Db } from '../../../src/db/db.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { queuePayout } from '../../../src/db/settlement/payouts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { addPayment, CHAIN_ID, openDatabase } from './database.ts'

/** A change of settlement that reaches no row is a failure, and nothing that was to go with it is written. */

const scope = { livemode: false, chainId: CHAIN_ID, token: `0x${'c'.repeat(40)}` as Hex } as const
const TREASURY: Hex = `0x${'b'.repeat(40)}`
const RECIPIENT: Hex = `0x${'d'.repeat(40)}`
const PAYMENT = 'pay_rows'

let db: Db
let close: () => Promise<void>
const heard: string[] = []
const nothing = async (): Promise<void> => undefined
const hooks = {
  onSettled: async (_tx: unknown, settlements: readonly { paymentId: string }[]) =>
    void heard.push(...settlements.map(({ paymentId }) => paymentId)),
  onHeld: nothing,
  onReleased: nothing,
  onVoided: nothing,
  onDeposit: nothing,
  onTreasuryMovement: nothing,
  onGas: nothing,
}
beforeAll(async () => {
  ;({ db, close } = await openDatabase())
  await addPayment(db, PAYMENT, { token: scope.token, destination: RECIPIENT })
})
afterAll(() => close())

/** From now on the table takes such changes without a word and does nothing. */
async function ignore(table: string, when: string): Promise<() => Promise<unknown>> {
  await db.query(
    `create or replace function ignored() returns trigger language plpgsql as $$ begin return null; end $$`,
  )
  await db.query(
    `create trigger ignored before update on ${table} for each row when (${when}) execute function ignored()`,
  )
  return () => db.query(`drop trigger ignored on ${table}`)
}

const journalOf = () => createSettlementJournal({ db, scope, hooks })

test('a settlement that reaches no payout is told to nobody, keeps its proof, and is made when it can be', async () => {
  await db.transaction((tx) =>
    queuePayout(tx, { ...scope, paymentId: PAYMENT, treasury: TREASURY, recipient: RECIPIENT, microUsdc: '1000000' }),
  )
  const journal = journalOf()
  const start = { number: 1, hash: `0x${'1'.repeat(64)}` } as const
  const lease = (await journal.leaseObserver({ owner: 'one', leaseMs: 60_000, start }))!
  const block = { blockNumber: 2, blockHash: `0x${'3'.repeat(64)}` } as const
  const proof = {
    ...block,
    kind: 'out',
    treasury: TREASURY,
    txHash: `0x${'2'.repeat(64)}`,
    logIndex: 0,
    authNonce: payoutNonce({ ...scope, treasury: TREASURY, paymentId: PAYMENT }),
    counterparty: RECIPIENT,
    microUsdc: '1000000',
    gasShare: null,
  } as const
  const place = { at: new Date(), number: 2, hash: block.blockHash }
  const stay = await ignore('chain_cursor', 'new.scanned_number <> old.scanned_number')
  await expect(
    journal.recordFinalized(lease, { logs: [proof], ownTransactions: [], paid: [], treasuries: [TREASURY], ...place }),
  ).rejects.toThrow('the cursor: 0 rows changed instead of 1')
  expect((await db.query('select from treasury_log')).rowCount).toBe(0)
  await stay()
  await journal.recordFinalized(lease, {
    logs: [proof],
    ownTransactions: [],
    paid: [],
    treasuries: [TREASURY],
    ...place,
  })
  const allow = await ignore('payout', `new.state = 'settled'`)
  const { ended, failed } = await journal.applyProven(100)
  expect([ended, failed.map(({ error }) => error.message)]).toEqual([
    0,
    ['payouts that are settled: 0 rows changed instead of 1'],
  ])
  expect(heard).toEqual([])
  expect((await db.query('select payment_id from treasury_log')).rows).toEqual([{ payment_id: null }])
  await allow()
  await db.query('update payout set hook_retry_at = now()')
  const prove = await ignore('treasury_log', 'new.payment_id is not null')
  expect((await journal.applyProven(100)).failed[0]?.error.message).toBe('their proofs: 0 rows changed instead of 1')
  expect(heard).toEqual([])
  await prove()
  await db.query('update payout set hook_retry_at = now()')
  expect(await journal.applyProven(100)).toEqual({ ended: 1, failed: [] })
  expect(heard).toEqual([PAYMENT])
})

test('an envelope that is not there does not end', async () => {
  const journal = journalOf()
  const lane = (await journal.leaseLane(`0x${'e'.repeat(40)}`, { owner: 'one', leaseMs: 60_000, firstNonce: 7 }))!
  await expect(journal.endEnvelopes(lane, { ends: [{ nonce: 7, state: 'foreign' }], chainTime: 0 })).rejects.toThrow(
    'envelopes that are final: 0 rows changed instead of 1',
  )
})
