import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { until } from '../../scripts/test/until.ts'
import { readChangeMessages } from '../../src/db/outbox.ts'
import { markCallbacksApplied, recordCallback } from '../../src/db/payments/partner-callbacks.ts'
import { insertPayment, loadPayment } from '../../src/db/payments/payments.ts'
import { withPaidOut } from '../../src/domain/payment/funds/funds.ts'
import { toFunds } from '../../src/domain/payment/funds/stored-funds.ts'
import type { PaymentWithAttempts } from '../../src/domain/payment/payment-object.ts'
import { withReading } from '../../src/domain/payment/reading.ts'
import { createNote } from '../../src/domain/timeline.ts'
import { newId } from '../../src/ids.ts'
import {
  type Change,
  changeLockedPayment,
  changeLockedPayments,
  changePayment,
  type LockedChange,
} from '../../src/payments/change-payment.ts'
import type { PaymentDraft } from '../../src/payments/payment-draft.ts'
import { addEndpoint, type Seeded, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
let id: string
let attemptId: string
const changed: string[] = []
const context = { publicUrl: 'http://shop.example', now: Date.now, onChanged: (one: string) => void changed.push(one) }
const EUR = { minor: '10000', currency: 'EUR' } as const

beforeAll(async () => {
  seeded = await seedDatabase()
  await addEndpoint(seeded.db, seeded.tenant, { enabledEvents: ['*'] })
})
afterAll(() => seeded?.close())
beforeEach(async () => {
  ;[id, attemptId] = [newId('payment'), newId('attempt')]
  const payment = newPayment({ id, createdAt: new Date().toISOString(), amountText: '100.00', amount: EUR })
  await insertPayment(seeded.db, seeded.tenant, { payment, claim: null, publicUrl: context.publicUrl })
  await change(adds(attemptId))
  changed.length = 0
})

const change = (work: Change, known?: PaymentWithAttempts) =>
  changePayment(seeded.db, context, { id, change: work, ...(known !== undefined && { known }) })
const changeLocked = (...works: readonly LockedChange[]) =>
  seeded.db.transaction((tx) =>
    changeLockedPayments(
      tx,
      context,
      works.map((work) => ({ id, change: work })),
    ),
  )
const load = () => loadPayment(seeded.db, id)
const adds =
  (attempt: string): Change =>
  (draft) =>
    draft.addAttempt({ id: attempt, provider: 'wallet_app', method: 'banking_app', asked: EUR })
const listIds = ({ attempts }: PaymentWithAttempts): string[] => attempts.map((attempt) => attempt.id).sort()

/** The partner has the whole price: a change that writes every kind of row. */
function pays(draft: PaymentDraft): void {
  const attempt = draft.state.attempts.find((one) => one.id === attemptId)!
  const order = {
    attemptId,
    reference: 'ref',
    account: 'ours',
    status: 'paid' as const,
    amount: EUR,
    received: EUR,
    failureCode: null,
  }
  const rate = { rate: '1.08', source: 'test' }
  draft.setAttempt(attemptId, withReading(attempt, { order, account: 'ours', rate, at: draft.at }))
}

const OF_ATTEMPT = 'attempt_id in (select id from attempt where payment_id = $1)'
const TABLES: Readonly<Record<string, string>> = {
  payment: 'id = $1',
  attempt: 'payment_id = $1',
  reading: OF_ATTEMPT,
  sale: 'payment_id = $1',
  ledger_transaction: 'payment_id = $1',
  ledger_entry: 'transaction_id in (select id from ledger_transaction where payment_id = $1)',
  timeline_entry: 'payment_id = $1',
  event: 'payment_id = $1',
  delivery: 'event_id in (select id from event where payment_id = $1)',
  partner_callback: OF_ATTEMPT,
}

/** All rows of the payment, by table. */
async function readRows(): Promise<Readonly<Record<string, unknown[]>>> {
  const tables = await Promise.all(
    Object.entries(TABLES).map(async ([table, which]) => {
      const { rows } = await seeded.db.query(
        `select to_jsonb(t) as row from ${table} t where ${which} order by t::text`,
        [id],
      )
      return [table, rows] as const
    }),
  )
  return Object.fromEntries(tables)
}

async function leaveCallback(): Promise<string> {
  const event = { provider: 'wallet_app', eventId: newId('request'), subject: { attemptId } } as const
  await recordCallback(seeded.db, { ...event, bodySha256: new Uint8Array(32), at: new Date().toISOString() })
  return (await load()).unread.get(attemptId)!
}

describe('Two changes of one payment', () => {
  test('two changes that begin at the same moment are both stored, and the version counts both', async () => {
    const known = await load()
    const entries = (await readRows()).timeline_entry?.length ?? 0
    const others = Array.from({ length: 8 }, () => newId('attempt'))
    const written = await Promise.all(
      others.map((attempt) =>
        change((draft) => {
          adds(attempt)(draft)
          draft.addNote(createNote('payment.silent'))
        }, known),
      ),
    )
    const after = await load()
    expect(listIds(after)).toEqual([attemptId, ...others].sort())
    expect(after.payment.version).toBe(known.payment.version + 8)
    const versions = written.map(({ state }) => state.payment.version).sort((a, b) => a - b)
    expect(versions).toEqual(others.map((_attempt, place) => known.payment.version + place + 1))
    expect(changed).toHaveLength(8)
    expect((await readRows()).timeline_entry).toHaveLength(entries + 8)
  })

  test('a change that has read an older version is made again on the newer one', async () => {
    const known = await load()
    const [first, second] = [newId('attempt'), newId('attempt')]
    await change(adds(first))
    const seen: number[] = []
    const { state } = await change((draft) => {
      seen.push(draft.state.attempts.length)
      adds(second)(draft)
    }, known)
    expect(seen).toEqual([1, 2])
    expect(listIds(state)).toEqual([attemptId, first, second].sort())
    expect(await load()).toEqual({ ...state, unread: new Map() })
  })

  test('a change waits for one that owns the lock, and is made on top of it', async () => {
    const { version } = (await load()).payment
    const [locked, free] = [newId('attempt'), newId('attempt')]
    const other = await seeded.db.transaction(async (tx) => {
      await changeLockedPayment(tx, context, { id, change: adds(locked) })
      const waiting = change(adds(free))
      await until(
        async () => {
          const { rows } = await seeded.db.query(
            `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
          return Number(rows[0]?.count)
        },
        (count) => count > 0,
      )
      return { waiting }
    })
    await other.waiting
    const after = await load()
    expect([listIds(after), after.payment.version]).toEqual([[attemptId, locked, free].sort(), version + 2])
  })
})

describe('A change of a payment', () => {
  test('a change writes the payment with all its dependent rows', async () => {
    const callback = await leaveCallback()
    const before = await readRows()
    const { state, events } = await change((draft) => {
      pays(draft)
      draft.addStatement(markCallbacksApplied(attemptId, callback))
    })
    const after = await readRows()
    expect(
      Object.keys(TABLES).filter((table) => JSON.stringify(before[table]) === JSON.stringify(after[table])),
    ).toEqual([])
    expect(await load()).toEqual({ ...state, unread: new Map() })
    expect(events).toHaveLength(1)
  })

  test('a change writes nothing of attempt, sale, books, timeline and event for another version', async () => {
    const callback = await leaveCallback()
    const known = await load()
    await change((draft) => draft.addNote(createNote('payment.silent')))
    const before = await readRows()
    changed.length = 0
    let runs = 0
    const { state, events } = await change((draft) => {
      runs += 1
      if (runs > 1) return
      pays(draft)
      draft.addStatement(markCallbacksApplied(attemptId, callback))
    }, known)
    expect(runs).toBe(2)
    expect(await readRows()).toEqual(before)
    expect([state.payment.status, events, changed]).toEqual(['pending', [], []])
  })

  test('a change of several payments writes nothing if one of them was changed without its lock', async () => {
    const before = await readRows()
    const writing = changeLocked(pays, async (_draft, tx) => {
      await tx.query('update payment set version = version + 1 where id = $1', [id])
    })
    await expect(writing).rejects.toThrow('a payment was changed without its lock')
    expect(await readRows()).toEqual(before)
  })

  test('several changes of one payment are written as one', async () => {
    const { version } = (await load()).payment
    const [first, second] = [newId('attempt'), newId('attempt')]
    const written = await changeLocked(adds(first), adds(second))
    expect(written.map(({ state }) => listIds(state))).toEqual([[attemptId, first, second].sort()])
    expect((await load()).payment.version).toBe(version + 1)
    expect(changed).toEqual([id])
  })

  test('a payment cannot succeed outside of a larger transaction, in which its link is completed too', async () => {
    await change(pays)
    await change(({ state, setSale }) => setSale({ ...state.sales[0]!, state: 'filled', fill: state.sales[0]!.gross }))
    const paid = change((draft) => draft.setFunds(withPaidOut(toFunds(draft.state), 1n)))
    await expect(paid).rejects.toThrow('can succeed only in a larger transaction')
  })

  test('an empty change writes nothing, and still runs its further work', async () => {
    const callback = await leaveCallback()
    const { version } = (await load()).payment
    const { events } = await change((draft) => {
      draft.setAttempt(attemptId, {})
      draft.addStatement(markCallbacksApplied(attemptId, callback))
    })
    const after = await load()
    expect([after.payment.version, after.unread.size, events, changed]).toEqual([version, 0, [], []])
  })

  test('a change reads back as it was written', async () => {
    const { state } = await change(pays)
    expect(await load()).toEqual({ ...state, unread: new Map() })
  })
})

describe('A change without an effect', () => {
  beforeEach(async () => {
    const event = { provider: 'wallet_app', eventId: newId('request'), subject: { attemptId } } as const
    await recordCallback(seeded.db, { ...event, bodySha256: new Uint8Array(32), at: new Date().toISOString() })
  })

  test('a change without an effect is decided again if the payment has changed since it was read', async () => {
    const known = await load()
    const callback = known.unread.get(attemptId)!
    await change((draft) => draft.setAttempt(attemptId, { status: 'declined' }))
    const { state } = await change((draft) => {
      // By its version, the reading reported nothing new.
      if (draft.state.attempts[0]?.status === 'opening') draft.addStatement(markCallbacksApplied(attemptId, callback))
    }, known)
    const after = await load()
    expect([state.payment.version, after.unread.size]).toEqual([after.payment.version, 1])
  })

  test('a change without an effect runs its statements under a lock too', async () => {
    const callback = (await load()).unread.get(attemptId)!
    await changeLocked(({ addStatement }) => addStatement(markCallbacksApplied(attemptId, callback)))
    expect((await load()).unread.size).toBe(0)
  })

  test('a change without an effect runs no statement if its payment was changed without its lock', async () => {
    const callback = (await load()).unread.get(attemptId)!
    const writing = changeLocked(async ({ addStatement }, tx) => {
      addStatement(markCallbacksApplied(attemptId, callback))
      await tx.query('update payment set version = version + 1 where id = $1', [id])
    })
    await expect(writing).rejects.toThrow('a payment was changed without its lock')
    expect((await load()).unread.size).toBe(1)
  })
})

describe('A change that the relay passes to the workflow', () => {
  const readMessages = async () =>
    (await readChangeMessages(seeded.db, 100)).filter(({ state }) => state.payment.id === id)

  test('a relayed change stores one message, with its events', async () => {
    const { events } = await change((draft) => {
      pays(draft)
      draft.relayChange()
    })
    const [message, ...others] = await readMessages()
    expect([message?.events, others]).toEqual([events, []])
    expect(message?.state.payment.status).toBe('processing')
  })

  test('a relayed change stores a message although it changes nothing', async () => {
    await change(({ relayChange }) => relayChange())
    expect(await readMessages()).toMatchObject([{ events: [] }])
  })

  test('a second relayed change keeps the events of the first one, which was not passed on yet', async () => {
    const first = await changeLocked((draft) => {
      pays(draft)
      draft.relayChange()
    })
    const second = await changeLocked(({ setPayment, relayChange }) => {
      setPayment({ held: true })
      relayChange()
    })
    const events = [...first, ...second].flatMap((written) => written.events)
    expect(events).toHaveLength(2)
    expect(await readMessages()).toMatchObject([{ events: events.toSorted() }])
  })
})
