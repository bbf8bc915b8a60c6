import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { pino } from 'pino'
import { newId } from '../../src/ids.ts'
import type { PaymentWorkflows } from '../../src/temporal/payments.ts'
import { CANCELED_PER_ROUND, createRelay } from '../../src/worker/relay.ts'
import { type CheckoutFixture, createCheckoutFixture } from '../api/checkout/checkout-fixture.ts'

let fixture: CheckoutFixture
beforeAll(async () => {
  fixture = await createCheckoutFixture()
})
afterAll(() => fixture.close())

test('payments that can never be canceled keep no other payment of a suspended merchant open', async () => {
  const { db } = fixture
  const { id: template } = await fixture.create()
  const copies = Array.from({ length: 2 * CANCELED_PER_ROUND }, () => newId('payment'))
  await db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', copy, 'checkout_token', copy))).*
     from payment p, unnest($1::text[]) as copy where p.id = $2`,
    [copies, template],
  )
  await db.query(`update agreement set status = 'suspended', open_payments = 100`)
  const [last = ''] = copies.toSorted().slice(-1)
  const asked = new Set<string>()
  const workflows: Partial<PaymentWorkflows> = {
    cancel: async (id) => {
      asked.add(id)
      return id === last ? { status: 'canceled' } : { kind: 'unavailable' }
    },
  }
  const relay = createRelay({
    db,
    client: {} as Pick<Client, 'workflow'>,
    workflows: workflows as PaymentWorkflows,
    refunds: { wake: async () => undefined },
    clock: Date.now,
    log: pino({ level: 'silent' }),
  })
  for (let round = 0; round < 3; round++) await relay.cancelSuspended()
  expect([...asked].toSorted()).toEqual([template, ...copies].toSorted())
})
