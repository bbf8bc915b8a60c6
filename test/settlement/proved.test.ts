import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import type { Db, Tx } from '../../src/db/db.ts'
import { bookAll } from '../../src/db/ledger.ts'
import { loadPayment, lockPayments } from '../../src/db/payments/payments.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { markRestored } from '../../src/db/settlement/observer/forgotten-payouts.ts'
import { listSettlementAttention } from '../../src/db/settlement/observer/standing.ts'
import { readPayout, requestVoid, stopPayout } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { Booking } from '../../src/domain/ledger.ts'
import { renderPayment } from '../../src/domain/payment/payment-object.ts'
import type { Lease } from '../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { changePayout } from '../../src/operator/payouts.ts'
import { createMoneyFixture, type Made, type MoneyFixture } from '../activities/payment/money-fixture.ts'
import { foundLogs, takeLease } from '../chain/lead.ts'

describe('payouts that are proved', () => {
  let fixture: MoneyFixture
  let db: Db
  beforeAll(async () => {
    fixture = await createMoneyFixture()
    db = fixture.checkout.db
    await db.query(
      `insert into webhook_endpoint (id, merchant_id, livemode, url, secrets, enabled_events)
     select 'we_' || id, id, false, 'https://shop.example/hook', '[]', '{*}' from merchant`,
    )
  })
  afterAll(() => fixture.close())

  /** Payments in `settling`, each with a payout that the final chain shows as paid. */
  async function proved(count: number): Promise<string[]> {
    const ids: string[] = []
    for (let made = 0; made < count; made++) ids.push((await fixture.settling()).id)
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

  async function readScope(id: string) {
    const { rows: found } = await db.query('select chain_id, token from payout where payment_id = $1', [id])
    return { livemode: false, chainId: found[0].chain_id as number, token: found[0].token as Hex }
  }

  /** Ends proved payouts, with the payments' own hooks, and counts the statements of each round. */
  async function apply(id: string, hooks: MoneyFixture['hooks'] = fixture.hooks) {
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
    const journal = createSettlementJournal({ db: counted, scope: await readScope(id), hooks })
    return { ...(await journal.applyProven(200)), statements }
  }

  describe('payouts that are proved together', () => {
    it('a round of proved payouts leaves one whose payment is being changed to the next round: neither waits for the other', async () => {
      const ids = await proved(2)
      await db.transaction(async (tx) => {
        await lockPayments(tx, [ids[0]!])
        expect(await apply(ids[0]!)).toMatchObject({ ended: 1, failed: [] })
        await stopPayout(tx, ids[0]!, 'looked at it')
      })
      expect(await apply(ids[0]!)).toMatchObject({ ended: 1, failed: [] })
      expect((await fixture.payment(ids[0]!)).status).toBe('succeeded')
    })

    it('a round of proved payouts books what each alone would book: lines, timeline, event, delivery and message', async () => {
      const ids = await proved(5)
      expect(await apply(ids[0]!)).toMatchObject({ ended: 5, failed: [] })
      for (const id of ids) {
        const { payment, attempts } = await loadPayment(db, id)
        const net = payment.usdc?.net
        expect(
          await rows(
            `select t.kind, split_part(t.reference, ':', 1), e.line, e.account, e.asset, e.amount from ledger_transaction t
             join ledger_entry e on e.transaction_id = t.id
           where t.kind in ('payment.succeeded', 'gas') and split_part(t.reference, ':', 1) = any($1) order by t.kind, e.line`,
            [id],
          ),
        ).toEqual([
          `gas ${id} 0 gas_expense POL 700`,
          `gas ${id} 1 gas_float POL -700`,
          `payment.succeeded ${id} 0 merchant_payable USDC ${net}`,
          `payment.succeeded ${id} 1 treasury USDC -${net}`,
        ])
        expect(
          await rows(
            `select payment_id from ledger_transaction where kind = 'payment.succeeded' and payment_id = any($1)`,
            [id],
          ),
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
        // The reported values are the stored ones.
        const { rows: events } = await db.query(
          `select e.id, e.sequence, e.body, d.status from event e join delivery d on d.event_id = e.id
         where e.payment_id = $1 and e.type = 'payment.succeeded'`,
          [id],
        )
        expect(events).toHaveLength(1)
        const body = JSON.parse(String(events[0].body))
        expect(body).toMatchObject({
          id: events[0].id,
          type: 'payment.succeeded',
          sequence: Number(events[0].sequence),
        })
        expect(body.data.object).toEqual(
          JSON.parse(JSON.stringify(renderPayment(payment, attempts, fixture.deps.context.publicUrl))),
        )
        expect(
          await rows(`select kind, subject from outbox where kind = 'payment_changed' and subject = any($1)`, [id]),
        ).toEqual([`payment_changed ${id}`])
      }
      const { rows: numbers } = await db.query(
        'select sequence from event where sequence is not null order by sequence',
      )
      expect(numbers.map(({ sequence }) => Number(sequence))).toEqual(numbers.map((_row, index) => index + 1))
    })

    it('a round of proved payouts needs as many statements as one payout', async () => {
      const [first] = await proved(1)
      const alone = await apply(first!)
      const more = await proved(7)
      const together = await apply(more[0]!)
      expect([alone.ended, together.ended]).toEqual([1, 7])
      expect(together.statements).toBe(alone.statements)
    })
  })

  describe('One bad payment among proved payouts', () => {
    it('a bad payment stops none of the others, is tried alone afterwards, and ends when its cause is gone', async () => {
      const ids = await proved(4)
      const bad = ids[2]!
      const onSettled: MoneyFixture['hooks']['onSettled'] = async (tx: Tx, settlements) => {
        await fixture.hooks.onSettled(tx, settlements)
        if (settlements.some(({ ownerId }) => ownerId === bad)) throw new Error('its record refuses')
      }
      const sizes: number[] = []
      const hooks = {
        ...fixture.hooks,
        onSettled: async (tx: Tx, settlements: Parameters<typeof onSettled>[1]) => {
          sizes.push(settlements.length)
          await onSettled(tx, settlements)
        },
      }
      expect(await apply(bad, hooks)).toMatchObject({ ended: 3, failed: [{ ownerId: bad }] })
      expect(sizes).toEqual([4, 1, 1, 1, 1])
      expect((await fixture.payment(bad)).status).toBe('settling')
      expect(
        await rows(
          `select count(*) from ledger_transaction where kind = 'payment.succeeded' and payment_id = any($1)`,
          ids,
        ),
      ).toEqual(['3'])
      expect(
        await rows(`select count(*) from event where type = 'payment.succeeded' and payment_id = any($1)`, ids),
      ).toEqual(['3'])

      // Half a minute later it does not stop the next ones.
      await db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [bad])
      const later = await proved(3)
      sizes.length = 0
      expect(await apply(bad, hooks)).toMatchObject({ ended: 3, failed: [{ ownerId: bad }] })
      expect(sizes).toEqual([3, 1])
      for (const id of later) expect((await fixture.payment(id)).status).toBe('succeeded')

      await db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [bad])
      expect(await apply(bad)).toMatchObject({ ended: 1, failed: [] })
      expect((await fixture.payment(bad)).status).toBe('succeeded')
    })

    it('a payout with another amount is recorded automatically, and the others are not', async () => {
      const ids = await proved(3)
      const owes = (micro: number) =>
        db.query('update payment set net_micro = net_micro + $2, gross_micro = gross_micro + $2 where id = $1', [
          ids[1],
          micro,
        ])
      await owes(-1)
      expect(await apply(ids[0]!)).toMatchObject({ ended: 3, failed: [] })
      for (const id of ids) {
        expect((await readPayout(db, id))?.state).toBe('settled')
        expect((await fixture.payment(id)).status).toBe('succeeded')
      }
      expect(await Promise.all(ids.map((id) => fixture.attention(id)))).toEqual([[], ['review unexpected_payout'], []])
      await owes(1)
      await fixture.checkout.change(ids[1]!, () => undefined)
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
})

describe('a payout that is proved in another block', () => {
  let fixture: MoneyFixture
  let db: Db
  beforeAll(async () => {
    fixture = await createMoneyFixture()
    db = fixture.checkout.db
  })
  afterAll(() => fixture.close())

  /** The final chain shows the payout as paid, in this block and transaction. */
  async function prove(id: string, place: { block: number; txHash: string }): Promise<void> {
    await db.query(
      `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
       block_number, block_hash, gas_share, finalized_at, known_as, applied_at)
     select chain_id, $3, 3, token, treasury, 'out', recipient, micro_usdc, auth_nonce, $2, $3, 700, '2026-11-22T10:00:00Z',
       'payout', now() from payout where payment_id = $1`,
      [id, place.block, place.txHash],
    )
    const { rows } = await db.query('select chain_id, token from payout where payment_id = $1', [id])
    const scope = { livemode: false, chainId: rows[0].chain_id, token: rows[0].token }
    const { ended, failed } = await createSettlementJournal({ db, scope, hooks: fixture.hooks }).applyProven(200)
    expect({ ended, failed }).toEqual({ ended: 1, failed: [] })
  }

  /** Does what `repair-finality` does when the block has left the chain. */
  async function takeBack(id: string): Promise<void> {
    await db.query(
      `insert into finality_reversal (owner_id, tx_hash, log_index, block_hash)
     select owner_id, tx_hash, log_index, block_hash from treasury_log where owner_id = $1`,
      [id],
    )
    await db.query('delete from treasury_log where owner_id = $1', [id])
    await db.query(`update payout set state = 'queued' where payment_id = $1`, [id])
  }

  const hash = (digit: string): string => `0x${digit.repeat(64)}`

  // The merchant received a transaction that no chain has.
  test('a payment whose transfer is final in another block than before names the one that the chain has, and is booked once', async () => {
    const { id } = await fixture.settling()
    await prove(id, { block: 7, txHash: hash('a') })
    expect((await loadPayment(db, id)).payment.transfer).toMatchObject({ txHash: hash('a'), blockNumber: '7' })

    await takeBack(id)
    await prove(id, { block: 9, txHash: hash('b') })
    const { payment } = await loadPayment(db, id)
    expect(payment).toMatchObject({ status: 'succeeded', transfer: { txHash: hash('b'), blockNumber: '9' } })
    const { rows } = await db.query(
      `select (select count(*)::int from ledger_transaction where kind = 'payment.succeeded' and payment_id = $1) as booked,
       (select count(*)::int from event where payment_id = $1 and type = 'payment.succeeded') as announced,
       (select data->>'tx_hash' from timeline_entry where payment_id = $1 and kind = 'payment.transfer_replaced') as replaced`,
      [id],
    )
    expect(rows).toEqual([{ booked: 1, announced: 1, replaced: hash('b') }])

    // A repeated proof adds nothing.
    const { version } = payment
    await takeBack(id)
    await prove(id, { block: 9, txHash: hash('b') })
    expect((await loadPayment(db, id)).payment.version).toBe(version)
  })
})

describe('a voided payout that is proved', () => {
  /** The transfer of a voided payout is proved after all: a backup had forgotten its signature. */

  let fixture: MoneyFixture
  beforeAll(async () => {
    fixture = await createMoneyFixture()
  })
  afterAll(() => fixture.close())

  async function voided(): Promise<Made> {
    const made = await fixture.settling()
    await fixture.voided(made.id)
    return made
  }
  const standing = async ({ id }: Made) => [await fixture.standing(id), await fixture.attention(id)]

  test('a voided payout whose transfer is proved lets the payment succeed if its money is still there, without an operator', async () => {
    const made = await voided()
    await fixture.settle(made.id)
    expect(await standing(made)).toEqual(['succeeded', []])
  })

  test('a voided payout whose transfer is proved is a loss, listed for an operator, for the part that the partner took back', async () => {
    const made = await voided()
    await fixture.act(made.attemptId, { action: 'reverse', receivedMinor: '6000' })
    await fixture.read(made)
    expect(await standing(made)).toEqual(['under_review excess', ['review excess']])
    await fixture.settle(made.id)
    expect(await standing(made)).toEqual(['succeeded', ['review loss']])
  })

  test('a voided payout whose transfer is proved is a loss, listed for an operator, until the partner confirms the give-back', async () => {
    const made = await voided()
    await fixture.fault({ fault: 'timeout_before_effect', operation: 'refund', times: 1, attemptId: made.attemptId })
    await expect(fixture.giveBack(made)).rejects.toThrow()
    await fixture.settle(made.id)
    await fixture.read(made)
    expect(await standing(made)).toEqual(['succeeded', ['review loss']])
  })
})

describe('a payout that a backup has forgotten', () => {
  /**
   * A backup is from before the hand-over of a payment's payout. In the time that it has forgotten the payout was
   * signed and sent, and its transfer is final.
   */

  let fixture: MoneyFixture
  let db: Db
  let journal: ReturnType<typeof createSettlementJournal>
  let scope: { livemode: boolean; chainId: number; token: Hex }
  let lease: Lease
  let block = 100
  beforeAll(async () => {
    fixture = await createMoneyFixture()
    db = fixture.checkout.db
    const { payment } = await fixture.state((await fixture.opened()).id)
    scope = { livemode: false, chainId: payment.chainId, token: payment.token.toLowerCase() as Hex }
    journal = createSettlementJournal({ db, scope, hooks: fixture.hooks })
    lease = await takeLease(journal, { owner: 'here', leaseMs: 600_000 })
  })
  afterAll(() => fixture.close())
  beforeEach(() => db.query('update chain_cursor set restored_at = null'))

  const toHash = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

  /** The observer reads the final transfer, which this database does not know. */
  async function paidUnknown(id: string, micro: string): Promise<void> {
    const treasury = fixture.payouts.getTreasury(id)
    const { payment } = await fixture.state(id)
    block += 1
    const log = {
      kind: 'out',
      treasury,
      txHash: toHash(block),
      logIndex: 1,
      counterparty: payment.destination.toLowerCase() as Hex,
      microUsdc: micro,
      authNonce: payoutNonce({ ...scope, treasury, ownerId: id }),
      blockNumber: block,
      blockHash: toHash(block),
      gasShare: null,
    } as const
    expect(await journal.recordLogs(lease, foundLogs([treasury], [log]))).toEqual([])
  }

  /**
   * Runs a round of the observer a minute later: returns the number of payouts that were found, and of those that have
   * ended.
   */
  async function observe(): Promise<{ found: number; ended: number }> {
    const found = await journal.queueForgotten()
    const { ended, failed } = await journal.applyProven(200)
    expect(failed).toEqual([])
    return { found, ended }
  }

  /** The payout of 100.00 EUR at 1.08, less the fee. */
  const NET = '103140000'
  const tx = (): Hex => toHash(block)

  describe('A merchant who has the money already', () => {
    test('the payment continues, and its payout is settled by that transfer', async () => {
      const { id } = await fixture.paid()
      await paidUnknown(id, NET)
      expect(await observe()).toEqual({ found: 0, ended: 0 })
      await fixture.handOver(id)
      expect(await observe()).toEqual({ found: 0, ended: 1 })
      expect(await fixture.payment(id)).toMatchObject({ status: 'succeeded', transfer: { txHash: tx() } })
      expect(await fixture.attention(id)).toEqual([])
    })

    test.each(['before its conversion', 'after its conversion'])(
      'an operator cannot give back the money of a payment that is held %s',
      async (when) => {
        const made = await fixture.paid()
        const { id } = made
        if (when.startsWith('after')) await fixture.convert(id)
        await fixture.decide(id, 'hold')
        await paidUnknown(id, NET)
        const { partners } = fixture.deps
        const refundOrder = () => Promise.reject(new Error('the partner was asked'))
        const never = { partners: { ...partners, wallet_app: { ...partners.wallet_app, refundOrder } } }
        await fixture.giveBack(made, never)
        expect(await fixture.standing(id)).toBe('under_review voiding')
        expect(await observe()).toEqual({ found: 1, ended: 1 })
        await fixture.askBack(made, never)
        await fixture.convert(id)
        expect(await fixture.payment(id)).toMatchObject({ status: 'succeeded', transfer: { txHash: tx() } })
        expect([await fixture.held(id), await fixture.attention(id)]).toEqual([['paid 10000'], []])
        expect(await fixture.books(id)).toEqual(await booksOfAnother())
      },
    )

    test('an operator is notified when the buyer has the money too, because the partner took it back', async () => {
      const { id, attemptId } = await fixture.paid()
      await paidUnknown(id, NET)
      await fixture.act(attemptId, { action: 'reverse' })
      await fixture.read({ id, attemptId })
      expect((await fixture.payment(id)).status).toBe('pending')
      expect(await observe()).toEqual({ found: 0, ended: 0 })
      await fixture.closeAs(id, 'expired')
      expect(await observe()).toEqual({ found: 1, ended: 1 })
      expect(await fixture.attention(id)).toEqual(['review unexpected_payout'])
      expect((await fixture.payment(id)).transfer).toMatchObject({ txHash: tx() })
      expect(await observe()).toEqual({ found: 0, ended: 0 })
    })

    test('the void of a payout that was never handed in here is refused, which is a chargeback', async () => {
      const { id, attemptId } = await fixture.paid()
      await fixture.convert(id)
      await paidUnknown(id, NET)
      await fixture.act(attemptId, { action: 'reverse' })
      await fixture.read({ id, attemptId })
      expect(await fixture.standing(id)).toBe('under_review voiding')
      expect(await observe()).toEqual({ found: 1, ended: 1 })
      expect([await fixture.standing(id), await fixture.attention(id)]).toEqual(['succeeded', ['review loss']])
    })

    test('an expired payment claims the transfer only when its money is read', async () => {
      const { id, attemptId } = await fixture.opened()
      await fixture.closeAs(id, 'expired')
      await paidUnknown(id, NET)
      expect(await observe()).toEqual({ found: 0, ended: 0 })
      expect(await listSettlementAttention(db)).toContainEqual(
        expect.objectContaining({ kind: 'unclaimed_transfer', detail: expect.stringContaining(id) }),
      )
      await fixture.sandbox.fault('wallet_app', { fault: 'late_money', attemptId, times: 1 })
      await fixture.act(attemptId, { action: 'pay', receivedMinor: '10000' })
      await fixture.read({ id, attemptId })
      expect((await fixture.payment(id)).status).toBe('processing')
      await fixture.handOver(id)
      expect(await observe()).toEqual({ found: 0, ended: 1 })
      expect((await fixture.payment(id)).status).toBe('succeeded')
      expect(await fixture.books(id)).toEqual(await booksOfAnother())
    })
  })

  /** The balances of the accounts after a normal payment of the same amounts. */
  async function booksOfAnother(): Promise<string[]> {
    const { id } = await fixture.settling()
    await fixture.settle(id)
    return fixture.books(id)
  }

  describe('A database that was just restored', () => {
    beforeAll(async () => {
      const list = [{ address: fixture.payouts.getTreasury(''), firstId: null }]
      expect(await journal.stampTreasuries({ list, keys: [] })).toBeNull()
    })

    const readState = async (id: string) => (await readPayout(db, id))?.state

    /** The final chain shows the cancellation, or the transfer that was faster. */
    async function show(id: string, kind: 'cancel' | 'out'): Promise<void> {
      const { authNonce, treasury, recipient, microUsdc } = (await readPayout(db, id))!
      block += 1
      await db.query(
        `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
           block_number, block_hash, finalized_at) values ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $2, now())`,
        [
          scope.chainId,
          toHash(block),
          scope.token,
          treasury,
          kind,
          ...(kind === 'out' ? [recipient, microUsdc] : [null, null]),
          authNonce,
          block,
        ],
      )
      expect((await observe()).ended).toBe(1)
    }

    test.each(['before its conversion', 'after its conversion'])(
      'a restored database cancels a forgotten payout on chain before it gives back the money of an older payment: held %s',
      async (when) => {
        const made = await fixture.paid()
        if (when.startsWith('after')) await fixture.convert(made.id)
        await fixture.decide(made.id, 'hold')
        await markRestored(db, scope)
        expect((await fixture.giveBack(made)).payment).toMatchObject({ next: 'await_payout' })
        expect(await readState(made.id)).toBe('voiding')
        expect(await fixture.held(made.id)).toEqual(['paid 10000'])
        await show(made.id, 'cancel')
        expect((await fixture.askBack(made)).payment.status).toBe('refunded')
      },
    )

    test('a restored database gives nothing back of an older payment whose forgotten payout was faster than the cancellation', async () => {
      const made = await fixture.paid()
      await fixture.convert(made.id)
      await fixture.decide(made.id, 'hold')
      await markRestored(db, scope)
      await fixture.giveBack(made)
      await show(made.id, 'out')
      expect(await readState(made.id)).toBe('settled')
      await fixture.askBack(made)
      expect([await fixture.standing(made.id), await fixture.held(made.id)]).toEqual(['succeeded', ['paid 10000']])
      await expect(fixture.decide(made.id, 'give_back')).rejects.toThrow('There is nothing to decide')
    })

    test('a restored database cancels a forgotten payout of money that the partner takes back', async () => {
      const { id, attemptId } = await fixture.paid()
      await fixture.convert(id)
      await markRestored(db, scope)
      await fixture.act(attemptId, { action: 'reverse' })
      await fixture.read({ id, attemptId })
      expect(await fixture.standing(id)).toBe('under_review voiding')
      expect(await readState(id)).toBe('voiding')
      await show(id, 'cancel')
      expect((await fixture.payment(id)).status).toBe('refunded')
    })

    test('a restored database gives back the money of a later payment at once', async () => {
      await markRestored(db, scope)
      const made = await fixture.paid()
      await fixture.decide(made.id, 'hold')
      await db.query(`update payment set created_at = now() + interval '1 minute' where id = $1`, [made.id])
      expect((await fixture.giveBack(made)).payment.status).toBe('refunded')
    })
  })
})

describe('the order of locks', () => {
  /** A decision locks the payment and then its payout. Locking the payout first would be a deadlock. */

  let fixture: MoneyFixture
  let db: MoneyFixture['checkout']['db']
  beforeAll(async () => {
    fixture = await createMoneyFixture()
    db = fixture.checkout.db
  })
  afterAll(() => fixture.close())

  const HASH: Hex = `0x${'2'.repeat(64)}`
  const TREASURY: Hex = `0x${'7'.repeat(40)}`
  const NEW_TREASURY: Hex = `0x${'6'.repeat(40)}`

  async function openJournal(id: string) {
    const { rows } = await db.query('select chain_id, token from payout where payment_id = $1', [id])
    const scope = { livemode: false, chainId: rows[0].chain_id as number, token: rows[0].token as Hex }
    return createSettlementJournal({ db, scope, hooks: fixture.hooks })
  }
  type Journal = Awaited<ReturnType<typeof openJournal>>
  const dead = { treasury: TREASURY, authNonce: HASH, isStolen: false, isVoid: true, successor: null, validBefore: 1 }

  const set = (id: string, state: string, reason: string | null = null) =>
    db.query('update payout set state = $2, stop_reason = $3 where payment_id = $1', [id, state, reason])

  /** The number of connections that wait for a lock. */
  const waiting = async (): Promise<number> => {
    const { rows } = await db.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length
  }

  /** Changes that the engine or an operator's command makes to a payout and reports to its payment. */
  const CHANGES: Readonly<Record<string, (id: string, journal: Journal) => Promise<unknown>>> = {
    'a signature after a stop': async (id, journal) => {
      const signature = {
        kind: 'transfer' as const,
        validBefore: 4_000_000_000,
        signature: `0x${'1'.repeat(130)}` as Hex,
      }
      const failed = await journal.storeSignatures([{ ownerId: id, treasury: TREASURY, signature }], {
        maxMicroPerDay: 10n ** 18n,
      })
      expect(failed).toEqual([])
    },
    'a void that is proved by its time': async (id, journal) => {
      const lease = await takeLease(journal, { owner: id })
      const block = { number: 9, hash: HASH, timestamp: 2 }
      const failed = await journal.voidExpired(lease, { block, unused: [{ ...dead, ownerId: id }] })
      await journal.releaseLead(id)
      expect(failed).toEqual([])
    },
    'another treasury': async (id, journal) => {
      const lease = await takeLease(journal, { owner: id })
      const block = { number: 9, hash: HASH, timestamp: 2 }
      const authNonce = (await readPayout(db, id))!.authNonce
      const moving = { ...dead, ownerId: id, authNonce, to: NEW_TREASURY, toNonce: HASH }
      expect(await journal.moveDead(lease, { block, dead: [moving] })).toBe(1)
      await journal.releaseLead(id)
    },
    'an operator who stops it': (id) => {
      const signed = { operator: 'anna', reason: 'a drill' }
      return changePayout(
        { db, hooks: fixture.hooks, dryRun: false, signed, say: () => undefined } as never,
        id,
        'stop',
      )
    },
  }

  describe('Money that is taken back, which voids its payout', () => {
    test.each([
      ['a signature after a stop', 'stopped', 'funds'],
      ['a void that is proved by its time', 'voiding', null],
      ['another treasury', 'stopped', 'policy'],
      ['an operator who stops it', 'queued', null],
    ])(
      '%s waits for its turn while the money is taken back, and neither is cut off as a deadlock',
      async (what, state, reason) => {
        const { id } = await fixture.settling()
        const journal = await openJournal(id)
        await set(id, state, reason)
        let changing: Promise<unknown> = Promise.resolve()
        await db.transaction(async (tx) => {
          await lockPayments(tx, [id])
          changing = CHANGES[what]!(id, journal)
          changing.catch(() => undefined)
          await until(waiting, (count) => count === 1)
          await requestVoid(tx, id)
        })
        await changing
        // A stopped or queued payout must be voided, and stays so; the proof has ended its own void.
        expect((await readPayout(db, id))?.state).toBe(state === 'voiding' ? 'voided' : 'voiding')
      },
    )
  })

  test('two deposits that are recorded at the same moment wait for each other in one order', async () => {
    const { id, attemptId } = await fixture.opened()
    const deposit = (place: number) => ({
      paymentId: id,
      owner: { attemptId },
      address: TREASURY,
      token: NEW_TREASURY,
      sender: TREASURY,
      units: '5',
      expected: true,
      txHash: `0x${String(place).repeat(64)}` as Hex,
      logIndex: place,
      blockNumber: 1,
      blockHash: HASH,
    })
    let both: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      await lockPayments(tx, [id])
      both = Promise.all(
        [3, 4].map((place) => db.transaction((other) => fixture.hooks.onDeposit(other, deposit(place)))),
      )
      both.catch(() => undefined)
      await until(waiting, (count) => count === 2)
    })
    await both
    expect((await fixture.books(id)).join()).toContain('USDC 10')
  })
})
