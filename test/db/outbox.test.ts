import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { newPayment } from '../../scripts/test/new-payment.ts'
import { deleteOutbox, putOutbox, readOutbox } from '../../src/db/outbox.ts'
import { insertPayment } from '../../src/db/payments/payments.ts'
import { newId } from '../../src/ids.ts'
import { type Seeded, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
beforeAll(async () => {
  seeded = await seedDatabase()
})
afterAll(() => seeded?.close())

let subject = ''
beforeEach(async () => {
  await seeded.db.query('delete from outbox')
  subject = newId('payment')
  const payment = newPayment({ id: subject, createdAt: new Date().toISOString() })
  await insertPayment(seeded.db, seeded.tenant, { payment, claim: null, publicUrl: 'http://127.0.0.1:9' })
})

const put = (payload: object) =>
  seeded.db.transaction((tx) => putOutbox(tx, 'complete_transfer', [{ subject, payload }]))
const read = () => readOutbox(seeded.db, 'complete_transfer', { minAgeMs: 0, limit: 10 })
const payloads = async () => (await read()).map(({ payload }) => payload)

describe('a message to Temporal', () => {
  test('is there until it was sent, and then gone', async () => {
    await put({ events: ['evt_1'] })
    const rows = await read()
    expect(rows).toMatchObject([{ kind: 'complete_transfer', subject, payload: { events: ['evt_1'] } }])
    await deleteOutbox(seeded.db, rows)
    expect(await payloads()).toEqual([])
  })

  test('is replaced by a later one about the same subject', async () => {
    await put({ events: ['evt_1'] })
    await put({ events: ['evt_2'] })
    expect(await payloads()).toEqual([{ events: ['evt_2'] }])
  })

  test('that is replaced between read and delete stays: the newer one was not sent', async () => {
    await put({ events: ['evt_1'] })
    const rows = await read()
    await put({ events: ['evt_2'] })
    await deleteOutbox(seeded.db, rows)
    expect(await payloads()).toEqual([{ events: ['evt_2'] }])
  })

  test('that is replaced by one with the same words stays too: the payment has changed since it was read', async () => {
    await put({ events: [] })
    const rows = await read()
    await put({ events: [] })
    await deleteOutbox(seeded.db, rows)
    expect(await payloads()).toEqual([{ events: [] }])
  })

  test('of another subject or kind is not touched', async () => {
    await put({ events: [] })
    const rows = await read()
    await deleteOutbox(seeded.db, rows)
    const { rows: left } = await seeded.db.query('select kind, subject from outbox')
    expect(left).toEqual([{ kind: 'start_payment', subject }])
  })
})
