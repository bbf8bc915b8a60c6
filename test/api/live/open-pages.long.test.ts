import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readStamps } from '../../../src/db/payments/payments.ts'
import { type CheckoutFixture, createCheckoutFixture, movePayment } from '../checkout/checkout-fixture.ts'
import { openStream } from './stream.ts'

let fixture: CheckoutFixture
beforeAll(async () => {
  fixture = await createCheckoutFixture()
}, 60_000)
afterAll(() => fixture?.close())

const stampNow = async (id: string) => (await readStamps(fixture.db, [id])).get(id)

test('an open page receives what happened while the process could not listen, as soon as it listens again', async () => {
  const payment = await fixture.create()
  const page = await openStream(`${fixture.url}${payment.path}/live?knows=${await stampNow(payment.id)}`)
  await movePayment(fixture, payment.id, ['pending'])
  await page.next()
  // Ends the process's listening connection, which is opened again some seconds later.
  await fixture.db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
  )
  await fixture.db.query("update payment set status = 'canceled', version = version + 1 where id = $1", [payment.id])
  expect(await page.next()).toBe(await stampNow(payment.id))
  await page.close()
}, 30_000)
