import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readStamps } from '../../../src/db/payments/payments.ts'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from '../checkout/checkout-world.ts'
import { openStream } from './stream.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
}, 60_000)
afterAll(() => world?.close())

const stampNow = async (id: string) => (await readStamps(world.db, [id])).get(id)

test('an open page receives what happened while the process could not listen, as soon as it listens again', async () => {
  const payment = await world.create()
  const page = await openStream(`${world.url}${payment.path}/live?knows=${await stampNow(payment.id)}`)
  await movePayment(world, payment.id, ['pending'])
  await page.next()
  // Ends the process's listening connection, which is opened again some seconds later.
  await world.db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
  )
  await world.db.query("update payment set status = 'canceled', version = version + 1 where id = $1", [payment.id])
  expect(await page.next()).toBe(await stampNow(payment.id))
  await page.close()
}, 30_000)
