import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { type Db, type Tx } from '../../src/db/db.ts'
import { bookAll } from '../../src/db/ledger.ts'
import { loadPayment, lockPayment } from '../../src/db/payments/payments.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { holdPayout, readPayout } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { Booking } from '../../src/domain/ledger.ts'
import { renderPayment } from '../../src/domain/payment/payment-object.ts'
import { createMoneyWorld, type MoneyWorld } from '../activities/payment/money-world.ts'

let world: MoneyWorld
let db: Db
beforeAll(async () => {
  world = await createMoneyWorld()
  db = world.checkout.db
  await db.query(
    `insert into webhook_endpoint (id, merchant_id, livemode, url, secrets, enabled_events)
     select 'we_' || id, id, false, 'https://shop.example/hook', '[]', '{*}' from merchant`,
  )
})
afterAll(() => world.close())

/** Payments in `settling`, each with a payout that the final chain shows as paid. */
async function proved(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made++) ids.push((await world.settling()).id)
  for (const id of ids) await prove(id)
  return ids
}

let block = 0

async function prove(id: string): Promise<void> {
  block += 1
  await db.query(
    `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
       block_number, block_hash, gas_share, finalized_at, known_as, applied_at)
     select chain_id, auth_nonce, 3, token, treasury, 'out', recipient, micro_usdc, auth_nonce, $2, auth_nonce, 700, now(),
       'payout', now() from payout where payment_id = $1`,
    [id, block],
  )
}

const rows = async (text: string, ids: readonly string[]): Promise<string[]> =>
  (await db.query(text, [[...ids]])).rows.map((row) => Object.values(row).join(' '))

async function scopeOf(id: string) {
  const { rows: found } = await db.query('select chain_id, token from payout where payment_id = $1', [id])
  return { livemode: false, chainId: found[0].chain_id as number, token: found[0].token as Hex }
}

/** Ends what is proved, with the payments' own hooks, and counts the statements of each round. */
async function apply(id: string, hooks: MoneyWorld['hooks'] = world.hooks) {
  let statements = 0
  const counted: Db = {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          query(text, values) {
            statements += 1
            return tx.query(text, values)
          },
        }),
      ),
  }
  const journal = createSettlementJournal({ db: counted, scope: await scopeOf(id), hooks })
  return { ...(await journal.applyProven(200)), statements }
}

describe('payouts that are proved together', () => {
  it('leave one whose payment is being changed to the next round: neither waits for the other', async () => {
    const ids = await proved(2)
    await db.transaction(async (tx) => {
      await lockPayment(tx, ids[0]!)
      expect(await apply(ids[0]!)).toMatchObject({ ended: 1, failed: [] })
      await holdPayout(tx, ids[0]!, 'looked at it')
    })
    expect(await apply(ids[0]!)).toMatchObject({ ended: 1, failed: [] })
    expect((await world.payment(ids[0]!)).status).toBe('succeeded')
  })

  it('book what each alone would book: lines, timeline, event, delivery and message', async () => {
    const ids = await proved(5)
    expect(await apply(ids[0]!)).toMatchObject({ ended: 5, failed: [] })
    for (const id of ids) {
      const { payment, attempts } = await loadPayment(db, id)
      const net = payment.usdc?.net
      expect(
        await rows(
          `select t.kind, t.reference, e.line, e.account, e.asset, e.amount from ledger_transaction t
             join ledger_entry e on e.transaction_id = t.id
           where t.kind in ('settled', 'gas') and t.reference = any($1) order by t.kind, e.line`,
          [id],
        ),
      ).toEqual([
        `gas ${id} 0 gas_expense POL 700`,
        `gas ${id} 1 gas_float POL -700`,
        `settled ${id} 0 merchant_payable USDC ${net}`,
        `settled ${id} 1 treasury USDC -${net}`,
      ])
      expect(
        await rows(`select payment_id from ledger_transaction where kind = 'settled' and reference = any($1)`, [id]),
      ).toEqual([id])
      const proof = (await readPayout(db, id))?.proof
      expect(payment).toMatchObject({ status: 'succeeded', transfer: { txHash: proof?.txHash, logIndex: 3 } })
      expect(payment.succeededAt).toBe(payment.updatedAt)
      expect(payment.closedAt).toBe(payment.updatedAt)
      expect(
        await rows(
          `select kind, from_status, to_status, actor, message, data->>'tx_hash' from timeline_entry
           where payment_id = any($1) and to_status = 'succeeded'`,
          [id],
        ),
      ).toEqual([
        `payment.succeeded settling succeeded system The USDC is final at the wallet of the merchant ${proof?.txHash}`,
      ])
      // What was told is what is stored.
      const { rows: events } = await db.query(
        `select e.id, e.sequence, e.body, d.status from event e join delivery d on d.event_id = e.id
         where e.payment_id = $1 and e.type = 'payment.succeeded'`,
        [id],
      )
      expect(events).toHaveLength(1)
      const body = JSON.parse(String(events[0].body))
      expect(body).toMatchObject({ id: events[0].id, type: 'payment.succeeded', sequence: Number(events[0].sequence) })
      expect(body.data.object).toEqual(
        JSON.parse(JSON.stringify(renderPayment(payment, attempts, world.deps.context.publicUrl))),
      )
      expect(
        await rows(
          `select kind, payload->'events'->>0, jsonb_array_length(payload->'events') from outbox
             where kind = 'complete_transfer' and subject = any($1)`,
          [id],
        ),
      ).toEqual([`complete_transfer ${events[0].id} 1`])
    }
    const { rows: numbers } = await db.query('select sequence from event where sequence is not null order by sequence')
    expect(numbers.map(({ sequence }) => Number(sequence))).toEqual(numbers.map((_row, index) => index + 1))
  })

  it('take as many statements as one does', async () => {
    const [first] = await proved(1)
    const alone = await apply(first!)
    const more = await proved(7)
    const together = await apply(more[0]!)
    expect([alone.ended, together.ended]).toEqual([1, 7])
    expect(together.statements).toBe(alone.statements)
  })
})

describe('one bad payment among them', () => {
  it('stops none of the others, is tried alone afterwards, and ends when its cause is gone', async () => {
    const ids = await proved(4)
    const bad = ids[2]!
    const onSettled: MoneyWorld['hooks']['onSettled'] = async (tx: Tx, settlements) => {
      await world.hooks.onSettled(tx, settlements)
      if (settlements.some(({ paymentId }) => paymentId === bad)) throw new Error('its record refuses')
    }
    const sizes: number[] = []
    const hooks = {
      ...world.hooks,
      onSettled: async (tx: Tx, settlements: Parameters<typeof onSettled>[1]) => {
        sizes.push(settlements.length)
        await onSettled(tx, settlements)
      },
    }
    expect(await apply(bad, hooks)).toMatchObject({ ended: 3, failed: [{ paymentId: bad }] })
    expect(sizes).toEqual([4, 1, 1, 1, 1])
    expect((await world.payment(bad)).status).toBe('settling')
    expect(
      await rows(`select count(*) from ledger_transaction where kind = 'settled' and reference = any($1)`, ids),
    ).toEqual(['3'])
    expect(
      await rows(`select count(*) from event where type = 'payment.succeeded' and payment_id = any($1)`, ids),
    ).toEqual(['3'])

    // Half a minute later it does not drag the next ones with it.
    await db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [bad])
    const later = await proved(3)
    sizes.length = 0
    expect(await apply(bad, hooks)).toMatchObject({ ended: 3, failed: [{ paymentId: bad }] })
    expect(sizes).toEqual([3, 1])
    for (const id of later) expect((await world.payment(id)).status).toBe('succeeded')

    await db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [bad])
    expect(await apply(bad)).toMatchObject({ ended: 1, failed: [] })
    expect((await world.payment(bad)).status).toBe('succeeded')
  })

  it('is recorded by itself when its amount is another, and the others are not', async () => {
    const ids = await proved(3)
    await db.query('update payment set net_micro = net_micro - 1, gross_micro = gross_micro - 1 where id = $1', [
      ids[1],
    ])
    expect(await apply(ids[0]!)).toMatchObject({ ended: 3, failed: [] })
    const states = await Promise.all(ids.map(async (id) => (await world.payment(id)).status))
    expect(states).toEqual(['succeeded', 'under_review', 'succeeded'])
    for (const id of ids) expect((await readPayout(db, id))?.state).toBe('settled')
    expect((await world.payment(ids[1]!)).parkReason).toBe('unexpected_settlement')
  })
})

test('lines that do not balance are refused, though others in the same statement do', async () => {
  const line = (account: 'treasury' | 'suspense', amount: string) => ({ account, asset: 'USDC', amount })
  const fact = (reference: string, lines: Booking['lines']): Booking => ({
    kind: 'gas',
    reference,
    paymentId: null,
    lines,
  })
  const good = fact('even', [line('treasury', '5'), line('suspense', '-5')])
  const bad = fact('odd', [line('treasury', '5'), line('suspense', '-4')])
  const booked = db.transaction((tx) => bookAll(tx, [good, bad], new Date().toISOString()))
  await expect(booked).rejects.toThrow('does not balance in USDC: 1')
})
