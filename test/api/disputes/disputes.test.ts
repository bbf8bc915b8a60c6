import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { redactBody } from '../../../src/api/http/request-log.ts'
import type { Dispute, ReportedDispute } from '../../../src/domain/dispute/dispute.ts'
import { MOST_EVIDENCE_BYTES } from '../../../src/domain/dispute/evidence.ts'
import { plantDispute } from '../support/disputes.ts'
import { plantRefund } from '../support/refunds.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
})
afterAll(() => testApi?.close())
beforeEach(async () => {
  await testApi.db.query('truncate dispute, dispute_answer cascade')
})

function makePdf(bytes: number): string {
  return Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(bytes - 5)]).toString('base64')
}

const PDF = Buffer.from('%PDF-1.7 receipt')
const TEXT = { explanation: 'The buyer signed for it.' }

async function dispute(changes: Partial<ReportedDispute> = {}, merchant: Pick<TestApi, 'tenant'> = testApi) {
  const { settled } = await plantRefund(testApi.db, merchant.tenant)
  const { rows } = await testApi.db.query('select id from attempt where payment_id = $1', [settled])
  return plantDispute(testApi.db, merchant.tenant, { attemptId: String(rows[0]?.id), ...changes })
}

type Sent = { readonly key?: string; readonly once?: string }
const post = ({ id }: Pick<Dispute, 'id'>, path: string, body?: object, { key = testApi.key, once }: Sent = {}) =>
  testApi.ask('POST', `/v1/disputes/${id}/${path}`, {
    ...(body !== undefined && { body }),
    key,
    ...(once !== undefined && { headers: { 'idempotency-key': once } }),
  })
const answers = async () =>
  (await testApi.db.query('select kind, submit, state, texts, files, content from dispute_answer order by id')).rows

describe('Disputes in the API', () => {
  test('a dispute is read and listed, by status and by payment', async () => {
    const [open, won] = [await dispute(), await dispute({ status: 'won' })]
    const { body } = await testApi.ask('GET', `/v1/disputes/${open.id}`, { key: testApi.key })
    expect(body).toMatchObject({
      id: open.id,
      object: 'dispute',
      payment: open.paymentId,
      reason: 'fraudulent',
      evidence_through: 'api',
      answer: null,
      cost: { taken: '49.99', fee: '20.00', fee_currency: 'EUR', from_reserve_usdc: '0.000000' },
    })
    const list = async (query: string) => {
      const answer = await testApi.ask('GET', `/v1/disputes${query}`, { key: testApi.key })
      return (answer.body['data'] as { id: string }[]).map(({ id }) => id)
    }
    expect(await list('')).toEqual([won.id, open.id])
    expect(await list('?status=won')).toEqual([won.id])
    expect(await list(`?payment=${open.paymentId}`)).toEqual([open.id])
    expect(await list(`?limit=1&starting_after=${won.id}`)).toEqual([open.id])
  })

  test('another merchant finds no dispute, and cannot answer one', async () => {
    const own = await dispute()
    const { key } = await testApi.addMerchant()
    const read = await testApi.ask('GET', `/v1/disputes/${own.id}`, { key })
    expect(read).toMatchObject({ status: 404, body: { code: 'resource_missing' } })
    expect(await post(own, 'evidence', TEXT, { key })).toMatchObject({ status: 404 })
    expect(await post(own, 'accept', undefined, { key })).toMatchObject({ status: 404 })
    expect(await answers()).toEqual([])
  })

  test('evidence with a file is stored for a worker, and the same request stores it once', async () => {
    const about = await dispute()
    const once = randomUUID()
    const body = { ...TEXT, files: { receipt: PDF.toString('base64') } }
    for (let sent = 0; sent < 2; sent++) {
      const answer = await post(about, 'evidence', body, { once })
      expect(answer).toMatchObject({
        status: 202,
        body: { answer: { kind: 'evidence', status: 'sending', submit: true, fields: ['explanation', 'receipt'] } },
      })
    }
    expect(await answers()).toEqual([
      {
        kind: 'evidence',
        submit: true,
        state: 'sending',
        texts: ['explanation'],
        files: ['receipt'],
        content: { texts: TEXT, files: { receipt: PDF.toString('base64') } },
      },
    ])
  })

  test('a request whose response was never stored is answered again, and another one with its key is refused', async () => {
    const about = await dispute()
    const once = randomUUID()
    await post(about, 'evidence', TEXT, { once })
    await testApi.db.query('delete from idempotency_key')
    await testApi.db.query(`update dispute_answer set state = 'sent', content = null, due_at = null`)
    await testApi.db.query(`update dispute set status = 'under_review'`)
    expect(await post(about, 'evidence', TEXT, { once })).toMatchObject({
      status: 202,
      body: { answer: { status: 'sent' } },
    })
    await testApi.db.query('delete from idempotency_key')
    const other = await post(about, 'evidence', { customer_name: 'Ada' }, { once })
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    expect(await answers()).toHaveLength(1)
  })

  test('while an answer is on its way there is no second one, from two requests at one moment neither', async () => {
    const about = await dispute()
    const sent = await Promise.all([post(about, 'evidence', TEXT), post(about, 'accept')])
    expect(sent.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409])
    expect(sent.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'not_possible_now' })
    expect(await answers()).toHaveLength(1)
  })

  test.each<[string, Partial<ReportedDispute>, string]>([
    ['is over', { status: 'lost' }, 'The dispute is over (lost)'],
    ['is under review', { status: 'under_review' }, 'Wait for its decision'],
    ['has passed its deadline', { evidenceDueAt: '2026-01-01T00:00:00.000Z' }, 'The deadline was 2026-01-01'],
    ['is answered elsewhere', { answeredAt: 'partner' }, 'in its own dashboard'],
  ])('a dispute that %s takes no answer, and the response says what to do', async (_what, changes, detail) => {
    const about = await dispute(changes)
    for (const sent of [await post(about, 'evidence', TEXT), await post(about, 'accept')])
      expect(sent).toMatchObject({ status: 409, body: { detail: expect.stringContaining(detail) } })
    expect(await answers()).toEqual([])
  })

  test('a deadline passes when time is skipped', async () => {
    const about = await dispute()
    const path = `/v1/test/payments/${about.paymentId}/skip_time`
    await testApi.ask('POST', path, { body: { seconds: 15 * 86_400 }, key: testApi.key })
    expect(await post(about, 'evidence', TEXT)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('The deadline was') },
    })
  })

  test.each<[string, object]>([
    ['without anything', {}],
    ['with an empty text', { explanation: '  ' }],
    ['with an unknown field', { excuse: 'None' }],
    ['with a file of another type', { files: { receipt: Buffer.from('<html>').toString('base64') } }],
    ['with a file that is not in base64', { files: { receipt: '%PDF' } }],
    ['with too much text', { explanation: 'x'.repeat(20_001) }],
    [
      'with files of more than 4 MB',
      { files: { receipt: makePdf(MOST_EVIDENCE_BYTES / 2), other: makePdf(MOST_EVIDENCE_BYTES / 2 + 3) } },
    ],
  ])('evidence %s is refused', async (_what, body) => {
    const about = await dispute()
    expect(await post(about, 'evidence', body)).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(await answers()).toEqual([])
  })

  test('a body above the limit is refused before it is read', async () => {
    const about = await dispute()
    const body = { files: { receipt: 'A'.repeat(7 * 1024 * 1024) } }
    expect(await post(about, 'evidence', body)).toMatchObject({ status: 413 })
  })

  test('evidence is in no log of the account', async () => {
    const about = await dispute()
    await post(about, 'evidence', { customer_name: 'Ada Lovelace' })
    const { rows } = await testApi.db.query(`select data::text from audit_entry`)
    expect(rows.map(({ data }) => data).join()).not.toContain('Lovelace')
    const logged = redactBody({ customer_name: 'Ada Lovelace', files: { receipt: 'JVBERi0=' }, submit: true })
    expect(JSON.parse(logged)).toEqual({ customer_name: '(hidden)', files: '(hidden)', submit: true })
  })
})
