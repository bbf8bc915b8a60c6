import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Db } from '../../../src/db/db.ts'
import { insertAnswer } from '../../../src/db/disputes/dispute-answers.ts'
import { lockDisputes, readDispute, writeDispute } from '../../../src/db/disputes/disputes.ts'
import { takeUnread } from '../../../src/db/payments/partner-callbacks.ts'
import { insertPayment } from '../../../src/db/payments/payments.ts'
import type { Dispute, ReportedDispute } from '../../../src/domain/dispute/dispute.ts'
import { decideDisputeChange, withReport } from '../../../src/domain/dispute/dispute-change.ts'
import { newId } from '../../../src/ids.ts'
import {
  createDisputeAnswers,
  type DisputeAnswerDeps,
  type DisputeRequest,
} from '../../../src/worker/partners/dispute-answers.ts'
import { anAnswer, aReport, plantDispute } from '../../api/support/disputes.ts'
import { type Seeded, seedDatabase } from '../../webhooks/seed.ts'

const log = pino({ level: 'silent' })
const DAY_MS = 86_400_000

let seeded: Seeded
let db: Db
beforeAll(async () => {
  seeded = await seedDatabase()
  ;({ db } = seeded)
})
afterAll(() => seeded?.close())

let asked: DisputeRequest[] = []
beforeEach(async () => {
  asked = []
  await db.query('truncate dispute, dispute_answer, notice, partner_callback cascade')
})

type Ask = DisputeAnswerDeps['ask']
const take: Ask = async (_provider, request) => {
  asked.push(request)
  return { kind: 'taken' }
}
const round = (ask: Ask = take): Promise<number> => createDisputeAnswers({ db, ask, clock: Date.now, log })()
const makeDue = () => db.query('update dispute_answer set due_at = now() where due_at is not null')

async function dispute(changes: Partial<ReportedDispute> = {}): Promise<Dispute> {
  const payment = newPayment({ id: newId('payment'), createdAt: new Date().toISOString() })
  await insertPayment(db, seeded.tenant, { payment, claim: null, publicUrl: 'https://pay.example' })
  const attemptId = newId('attempt')
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ($1, $2, 'card_partner', 'card', 'paid', 4999, 'EUR', now(), now())`,
    [attemptId, payment.id],
  )
  return plantDispute(db, seeded.tenant, { attemptId, ...changes })
}

const read = async ({ id }: Dispute) => (await readDispute(db, seeded.tenant, id))?.answer
const contents = async () => (await db.query('select content from dispute_answer')).rows.map(({ content }) => content)
const unread = async () => (await takeUnread(db, { limit: 10, minAgeMs: 0 })).length
const events = async () =>
  (await db.query(`select type from event where type like 'dispute.%'`)).rows.map(({ type }) => type)

describe('Answers to disputes', () => {
  test('evidence is passed to the partner under its id, and deleted, and the order is read again', async () => {
    const about = await dispute()
    const content = { texts: { explanation: 'Signed.' }, files: { receipt: Buffer.from('%PDF-1').toString('base64') } }
    const answer = anAnswer(about, { content })
    await insertAnswer(db, seeded.tenant, answer)
    for (let turn = 0; turn < 2; turn++) await round()
    expect(asked).toEqual([
      {
        dispute: 'du_1',
        key: answer.id,
        kind: 'evidence',
        submit: true,
        texts: { explanation: 'Signed.' },
        files: { receipt: Buffer.from('%PDF-1') },
      },
    ])
    expect(await read(about)).toMatchObject({
      state: 'sent',
      texts: ['explanation'],
      files: ['receipt'],
      refusal: null,
    })
    expect([await contents(), await unread()]).toEqual([[null], 1])
  })

  test('without an answer of the partner it is asked again later, under the same key', async () => {
    const about = await dispute()
    await insertAnswer(db, seeded.tenant, anAnswer(about))
    const silent: Ask = async (_provider, request) => {
      asked.push(request)
      throw new Error('no answer')
    }
    for (let turn = 0; turn < 2; turn++) await round(silent)
    expect(asked).toHaveLength(1)
    expect(await read(about)).toMatchObject({ state: 'sending' })
    await makeDue()
    await round()
    expect(asked.map(({ key }) => key)).toEqual([asked[0]?.key, asked[0]?.key])
    expect(await read(about)).toMatchObject({ state: 'sent' })
  })

  test('a process that dies after the partner has taken it leaves it to be asked again', async () => {
    const about = await dispute()
    await insertAnswer(db, seeded.tenant, anAnswer(about))
    await db.query(`create function die() returns trigger language plpgsql as $$ begin raise exception 'it died'; end $$;
      create trigger die before insert on partner_callback for each row execute function die()`)
    await round()
    await db.query('drop trigger die on partner_callback; drop function die()')
    expect([await read(about), await contents()]).toMatchObject([{ state: 'sending' }, [{ files: {} }]])
    await makeDue()
    await round()
    expect([await read(about), await unread()]).toMatchObject([{ state: 'sent' }, 1])
  })

  test('a refusal is shown to the merchant, with an event', async () => {
    const about = await dispute()
    await insertAnswer(db, seeded.tenant, anAnswer(about, { kind: 'accept' }))
    await round(async () => ({ kind: 'refused', reason: 'dispute_closed' }))
    expect(await read(about)).toMatchObject({ kind: 'accept', state: 'refused', refusal: 'dispute_closed' })
    expect([await events(), await contents()]).toEqual([['dispute.updated'], [null]])
  })

  test('a driver that cannot answer refuses', async () => {
    const about = await dispute({ answeredAt: 'partner' })
    await insertAnswer(db, seeded.tenant, anAnswer(about))
    await round(() => null)
    expect(await read(about)).toMatchObject({ state: 'refused' })
  })

  test('two workers at one moment ask the partner once', async () => {
    await insertAnswer(db, seeded.tenant, anAnswer(await dispute()))
    await Promise.all([round(), round()])
    expect(asked).toHaveLength(1)
  })
})

describe('Reminders of deadlines', () => {
  const notices = async () => (await db.query('select kind, data from notice')).rows
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

  test('a merchant without evidence is reminded once, three days before the deadline', async () => {
    const near = await dispute({ evidenceDueAt: inDays(2.9) })
    await dispute({ evidenceDueAt: inDays(3.1) })
    for (let turn = 0; turn < 2; turn++) await round()
    expect(await notices()).toMatchObject([{ kind: 'dispute.evidence_due', data: { id: near.id, currency: 'EUR' } }])
  })

  test.each<[string, Partial<ReportedDispute>]>([
    ['has evidence', { isEvidenceSubmitted: true }],
    ['is under review', { status: 'under_review' }],
    ['is over', { status: 'won' }],
    ['has passed its deadline', { evidenceDueAt: inDays(-1) }],
    ['has no deadline', { evidenceDueAt: null }],
  ])('nobody is reminded of a dispute that %s', async (_what, changes) => {
    await dispute({ evidenceDueAt: inDays(2), ...changes })
    await round()
    expect(await notices()).toEqual([])
  })

  /** Stores the chargeback that grew out of an inquiry, as a reading of the order does. */
  const escalate = async (about: Dispute, evidenceDueAt: string) =>
    db.transaction(async (tx) => {
      const [before = about] = await lockDisputes(tx, about.paymentId)
      const at = new Date().toISOString()
      const change = decideDisputeChange(before, withReport(before, aReport({ evidenceDueAt }), at), at)
      if (change !== null) await writeDispute(tx, change)
    })

  test.each([false, true])(
    'a chargeback that grew out of an inquiry has its reminder: answered %s',
    async (isAnswered) => {
      const about = await dispute({ kind: 'inquiry', evidenceDueAt: inDays(1), isEvidenceSubmitted: isAnswered })
      if (isAnswered) await insertAnswer(db, seeded.tenant, anAnswer(about))
      await round()
      expect(await notices()).toHaveLength(isAnswered ? 0 : 1)
      const due = inDays(2)
      await escalate(about, due)
      for (let turn = 0; turn < 2; turn++) await round()
      expect((await notices()).map(({ data }) => data.evidence_due_at)).toContain(due)
      expect(await notices()).toHaveLength(isAnswered ? 1 : 2)
    },
  )

  test('a merchant whose evidence is refused near the deadline is reminded', async () => {
    const about = await dispute({ evidenceDueAt: inDays(1) })
    await insertAnswer(db, seeded.tenant, anAnswer(about))
    await round(async () => Promise.reject(new Error('no answer')))
    expect(await notices()).toEqual([])
    await makeDue()
    for (let turn = 0; turn < 2; turn++) await round(async () => ({ kind: 'refused', reason: 'file_unreadable' }))
    expect(await notices()).toMatchObject([{ kind: 'dispute.evidence_due', data: { id: about.id } }])
  })

  test('nobody is reminded while evidence is on its way', async () => {
    const about = await dispute({ evidenceDueAt: inDays(2) })
    await insertAnswer(db, seeded.tenant, anAnswer(about))
    await round(async () => Promise.reject(new Error('no answer')))
    expect(await notices()).toEqual([])
  })
})
