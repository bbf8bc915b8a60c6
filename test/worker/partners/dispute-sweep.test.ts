import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Db } from '../../../src/db/db.ts'
import { bringSweepForward } from '../../../src/db/partners/disputes.ts'
import { recordCallback, takeUnread } from '../../../src/db/payments/partner-callbacks.ts'
import { insertPayment } from '../../../src/db/payments/payments.ts'
import type { ProviderName } from '../../../src/domain/methods.ts'
import type { PartnerDispute } from '../../../src/domain/payment/partner.ts'
import { newId } from '../../../src/ids.ts'
import { createDisputeSweep } from '../../../src/worker/partners/dispute-sweep.ts'
import { type Seeded, seedDatabase } from '../../webhooks/seed.ts'

const NOW = Date.parse('2026-11-20T21:00:00.000Z')
const log = pino({ level: 'silent' })

let seeded: Seeded
let db: Db
beforeAll(async () => {
  seeded = await seedDatabase()
  ;({ db } = seeded)
})
afterAll(() => seeded?.close())

let listed: Partial<Record<ProviderName, readonly PartnerDispute[]>> = {}
let questions: [ProviderName, number][] = []
beforeEach(async () => {
  listed = {}
  questions = []
  await db.query('delete from partner_callback')
  await db.query(`update attempt set partner_payments = '{}'`)
  await due()
})

const due = () => db.query(`update dispute_sweep set due_at = now(), begun_at = '-infinity'`)

type List = (provider: ProviderName, since: number) => Promise<readonly PartnerDispute[]>

const ask: List = async (provider, since) => {
  questions.push([provider, since])
  return listed[provider] ?? []
}
const sweep = (list: List = ask): Promise<number> => createDisputeSweep({ db, list, clock: () => NOW, log })()

/** An attempt for which a reading has reported payments at its partner. */
async function addAttempt(provider: ProviderName, payments: readonly string[]): Promise<string> {
  const payment = newPayment({ id: newId('payment'), createdAt: new Date(NOW).toISOString() })
  await insertPayment(db, seeded.tenant, { payment, claim: null, publicUrl: 'https://pay.example' })
  const id = newId('attempt')
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, partner_payments, created_at, updated_at)
     values ($1, $2, $3, 'card', 'paid', 100, 'EUR', $4, now(), now())`,
    [id, payment.id, provider, payments],
  )
  return id
}

const events = async () =>
  (
    await db.query(
      'select provider_event_id as id, attempt_id, applied_at is not null as applied from partner_callback',
    )
  ).rows as { id: string; attempt_id: string; applied: boolean }[]
const listDisputeIds = async (attemptId: string): Promise<string[]> =>
  (await db.query('select partner_disputes from attempt where id = $1', [attemptId])).rows[0].partner_disputes
const unread = async () => (await takeUnread(db, { minAgeMs: 0, limit: 10 })).map(({ attempt_id: id }) => id)
const secondsToNext = async (provider: ProviderName): Promise<number> =>
  (
    await db.query(
      'select round(extract(epoch from due_at - now()))::int as seconds from dispute_sweep where provider = $1',
      [provider],
    )
  ).rows[0].seconds

describe('The sweep of disputes', () => {
  test('each partner is asked once an hour for the disputes of the last 200 days, by one of the workers', async () => {
    await Promise.all([sweep(), sweep(), sweep()])
    const since = NOW / 1000 - 200 * 86_400
    expect(questions.toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
      ['card_partner', since],
      ['local_partner', since],
      ['wallet_app', since],
    ])
    expect(await secondsToNext('wallet_app')).toBe(3600)
    expect(await sweep()).toBe(0)
    expect(questions).toHaveLength(3)
  })

  test('a dispute wakes the payment that it is about, and each reading asks for it from then on', async () => {
    const id = await addAttempt('wallet_app', ['p-1', 'p-2'])
    const other = await addAttempt('wallet_app', ['p-3'])
    listed = { wallet_app: [{ id: 'd-1', payment: 'p-2', state: 'lost 100' }] }
    expect(await sweep()).toBe(1)
    expect(await listDisputeIds(id)).toEqual(['d-1'])
    expect(await listDisputeIds(other)).toEqual([])
    expect(await unread()).toEqual([id])
  })

  test('a dispute that is listed again changes nothing, and one in another state is read again', async () => {
    const id = await addAttempt('wallet_app', ['p-1'])
    const dispute = { id: 'd-1', payment: 'p-1' }
    const sweepAt = async (state: string) => {
      listed = { wallet_app: [{ ...dispute, state }] }
      await due()
      const found = await sweep()
      const [event] = await events()
      await db.query('update partner_callback set applied_at = now()')
      return [found, event?.applied]
    }
    expect(await sweepAt('needs_response 100')).toEqual([1, false])
    expect(await sweepAt('needs_response 100')).toEqual([0, true])
    expect(await sweepAt('lost 100')).toEqual([1, false])
    expect(await sweepAt('lost 100')).toEqual([0, true])
    // An appeal.
    expect(await sweepAt('needs_response 100')).toEqual([1, false])
    expect(await sweepAt('lost 100')).toEqual([1, false])
    expect(await events()).toEqual([{ id: 'dispute:d-1', attempt_id: id, applied: true }])
    expect(await listDisputeIds(id)).toEqual(['d-1'])
  })

  test('several disputes about one order are all kept, in one sweep and in later ones', async () => {
    const id = await addAttempt('card_partner', ['pi_1', 'ch_1'])
    const dispute = (number: number, payment: string) => ({ id: `du_${number}`, payment, state: 'lost 1' })
    listed = { card_partner: [dispute(1, 'pi_1'), dispute(2, 'ch_1')] }
    expect(await sweep()).toBe(2)
    listed = { card_partner: [dispute(1, 'pi_1'), dispute(2, 'ch_1'), dispute(3, 'pi_1')] }
    await due()
    expect(await sweep()).toBe(1)
    expect((await listDisputeIds(id)).toSorted()).toEqual(['du_1', 'du_2', 'du_3'])
  })

  test('a dispute that is listed before its payment was read is found by the next sweep', async () => {
    const id = await addAttempt('local_partner', [])
    listed = { local_partner: [{ id: 'disp_1', payment: 'pay_9', state: 'lost 1' }] }
    expect(await sweep()).toBe(0)
    expect(await events()).toEqual([])
    await db.query(`update attempt set partner_payments = '{pay_9}' where id = $1`, [id])
    await due()
    expect(await sweep()).toBe(1)
  })

  test('a payment of another provider with the same id is not meant', async () => {
    const id = await addAttempt('card_partner', ['p-7'])
    listed = { wallet_app: [{ id: 'd-7', payment: 'p-7', state: 'lost 1' }] }
    expect(await sweep()).toBe(0)
    expect(await listDisputeIds(id)).toEqual([])
  })

  test('a callback that arrives during a sweep makes the next one due', async () => {
    await sweep(async (provider) => {
      if (provider === 'wallet_app') await bringSweepForward(db, provider)
      return []
    })
    expect(await secondsToNext('wallet_app')).toBeLessThanOrEqual(15)
    expect(await secondsToNext('card_partner')).toBe(3600)
  })

  test('a partner whose disputes cannot be listed is asked again after five minutes, and delays no other partner', async () => {
    const id = await addAttempt('card_partner', ['pi_1'])
    const failing: List = async (provider) => {
      if (provider === 'wallet_app') throw new Error('no answer')
      return provider === 'card_partner' ? [{ id: 'du_1', payment: 'pi_1', state: 'lost 1' }] : []
    }
    expect(await sweep(failing)).toBe(1)
    expect(await listDisputeIds(id)).toEqual(['du_1'])
    expect(await secondsToNext('wallet_app')).toBe(300)
    expect(await secondsToNext('card_partner')).toBe(3600)
  })

  test('a callback of the partner about the same order stays separate', async () => {
    const id = await addAttempt('wallet_app', ['p-1'])
    const event = { provider: 'wallet_app', eventId: 'evt_1', bodySha256: new Uint8Array(32) } as const
    await recordCallback(db, { ...event, subject: { attemptId: id }, at: new Date(NOW).toISOString() })
    listed = { wallet_app: [{ id: 'd-1', payment: 'p-1', state: 'lost 1' }] }
    expect(await sweep()).toBe(1)
    expect((await events()).map((each) => each.id).toSorted()).toEqual(['dispute:d-1', 'evt_1'])
  })
})
