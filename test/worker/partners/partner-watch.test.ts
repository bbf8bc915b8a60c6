import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { createDownPartners } from '../../../src/api/live/down-partners.ts'
import type { Db } from '../../../src/db/db.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { listDown, listStandings } from '../../../src/db/partners/standing.ts'
import type { ProviderName } from '../../../src/domain/methods.ts'
import { newId } from '../../../src/ids.ts'
import { askPartner, reportStanding } from '../../../src/partners/decorators/standing.ts'
import { createPartners } from '../../../src/partners/index.ts'
import { createPartnerWatch } from '../../../src/worker/partners/partner-watch.ts'
import { type ActivityFixture, createActivityFixture, perform } from '../../activities/payment/fixture.ts'

const CARD = { provider: 'card_partner', method: 'card' } as const
const log = pino({ level: 'silent' })

let fixture: ActivityFixture
let db: Db
beforeAll(async () => {
  fixture = await createActivityFixture()
  db = fixture.checkout.db as Db
})
afterAll(() => fixture.close())
beforeEach(async () => {
  await clearFaults()
  await db.query('delete from partner_standing')
})

const fault = (changes: object) => fixture.sandbox.fault('card_partner', { fault: 'server_error', ...changes })
const clearFaults = () => fetch(`${fixture.sandbox.url}/card-partner/sandbox/faults`, { method: 'DELETE' })

/** One worker process: its partners, and its detection of those that are down. */
function startProcess({ on = db, secret }: { on?: Db; secret?: string } = {}) {
  const settings = (name: ProviderName) =>
    fixture.sandbox.settings(name, name === 'card_partner' && secret !== undefined ? { secret } : {})
  const partners = createPartners({
    wallet_app: settings('wallet_app'),
    card_partner: settings('card_partner'),
    local_partner: settings('local_partner'),
  })
  let questions = 0
  const watch = createPartnerWatch({
    db: on,
    log,
    wake: () => undefined,
    ask: (name) => {
      questions += 1
      return askPartner(partners[name])
    },
  })
  const activities = fixture.activities({ partners: { ...fixture.deps.partners, ...reportStanding(partners, watch) } })
  return { watch, activities, questions: () => questions }
}
type Process = ReturnType<typeof startProcess>

/** A buyer continues with a card; returns true if there is a page to open. */
async function buys({ activities }: Process, changes: { merchantId?: string; attemptId?: string } = {}) {
  const { attemptId = newId('attempt'), ...owner } = changes
  const { id } = await fixture.checkout.create(owner)
  const opening = perform(activities.openPartnerOrder, { paymentId: id, attemptId, ...CARD })
  return opening.then(({ answer }) => answer.kind).catch(() => 'no answer')
}

/** Makes the next question due. */
const due = () => db.query('update partner_standing set ask_at = clock_timestamp() where ask_at is not null')

async function asks(processes: readonly Process[], times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await due()
    await Promise.all(processes.map(({ watch }) => watch.tick()))
  }
}
const down = async () => (await listDown(db)).map(({ partner, why }) => `${partner} ${why}`)

describe('A partner whose server fails', () => {
  test('a failing partner is down for every process after three questions, and up again with the first answer', async () => {
    const [one, other] = [startProcess(), startProcess()]
    const api = createDownPartners({ read: () => listDown(db), onError: () => undefined })
    try {
      await fault({})
      expect(await buys(one)).toBe('no answer')
      await asks([one, other], 2)
      expect(await down()).toEqual([])
      await asks([one, other], 1)
      expect(await down()).toEqual(['card_partner silent'])
      await api.look()
      expect(api.now()).toEqual({ card_partner: expect.stringMatching(/^\d{4}-.*Z$/) })
      // One of two processes has asked.
      expect(one.questions() + other.questions()).toBe(3)

      await asks([one, other], 2)
      expect(await down()).toHaveLength(1)
      await clearFaults()
      await asks([one, other], 1)
      expect(await down()).toEqual([])
      await api.look()
      expect(api.now()).toEqual({})
    } finally {
      api.close()
    }
  })

  test('a failing partner is asked by another process when the one that asks dies', async () => {
    const dies = createPartnerWatch({ db, log, wake: () => undefined, ask: () => new Promise(() => undefined) })
    const lives = startProcess()
    await fault({})
    await buys(lives)
    await due()
    void dies.tick()
    await claimed()
    await lives.watch.tick()
    expect(lives.questions()).toBe(0)
    await asks([lives], 3)
    expect(await down()).toEqual(['card_partner silent'])
  })

  test('a partner that keeps the connection open without an answer counts as silent', async () => {
    await fixture.sandbox.fault('card_partner', { fault: 'timeout_before_effect', mode: 'hang' })
    expect(await askPartner(fixture.sandbox.partners().card_partner, 500)).toBe('silent')
  }, 15_000)

  test('a failing partner keeps its open orders: they are read and opened as before', async () => {
    const process = startProcess()
    const { id } = await fixture.checkout.create()
    const attemptId = newId('attempt')
    await perform(process.activities.openPartnerOrder, { paymentId: id, attemptId, ...CARD })
    await fault({ operation: 'open' })
    await buys(process)
    await fixture.sandbox.fault('card_partner', { fault: 'timeout_before_effect', times: 3, operation: 'read' })
    await asks([process], 3)
    expect(await down()).toHaveLength(1)
    await clearFaults()
    await fixture.sandbox.act('card_partner', attemptId, { action: 'pay' })
    const read = await perform(process.activities.readPartnerOrder, { paymentId: id, attemptId })
    expect(read.payment.status).toBe('processing')
    expect(await buys(process)).toBe('redirect')
  })
})

test('a partner that refuses the platform’s account is down for another reason', async () => {
  const process = startProcess({ secret: 'rotated' })
  await buys(process)
  await asks([process], 3)
  expect(await down()).toEqual(['card_partner refuses_us'])
})

describe('Failures that do not take a partner down', () => {
  test('a merchant whose orders the partner cannot take does not take it down, however many they are', async () => {
    const process = startProcess()
    for (let order = 0; order < 8; order++) {
      const attemptId = newId('attempt')
      await fault({ attemptId })
      expect(await buys(process, { attemptId })).toBe('no answer')
      await asks([process], 1)
    }
    expect(await down()).toEqual([])
    expect((await listStandings(db))[0]?.suspects).toHaveLength(8)
  })

  test('declined or refused orders do not make a partner suspect', async () => {
    const process = startProcess()
    await fixture.sandbox.fault('card_partner', { fault: 'decline_opening' })
    expect(await buys(process)).toBe('declined')
    const { id } = await fixture.checkout.create()
    const attemptId = newId('attempt')
    const asked = { minor: '4999', currency: 'EUR' } as const
    await fixture.checkout.change(id, (draft) => draft.addAttempt({ id: attemptId, ...CARD, asked }))
    const nothing = fixture.sandbox.newOrder('card_partner', { attemptId, amount: { ...asked, minor: '0' } })
    const partners = reportStanding(fixture.sandbox.partners(), process.watch)
    await expect(partners.card_partner.openOrder(nothing, AbortSignal.timeout(5000))).rejects.toThrow('answered 400')
    expect(await listStandings(db)).toEqual([])
  })

  test('five payments of three merchants with opened, unreadable orders do not take a partner down', async () => {
    const process = startProcess()
    const merchants = [newId('merchant'), newId('merchant'), newId('merchant')]
    for (const [index, id] of merchants.entries()) await insertMerchant(db, { id, name: `Shop ${index}` })
    const orders: { paymentId: string; attemptId: string }[] = []
    for (let order = 0; order < 5; order++) {
      const [{ id: paymentId }, attemptId] = [
        await fixture.checkout.create({ merchantId: merchants[order % 3]! }),
        newId('attempt'),
      ]
      await perform(process.activities.openPartnerOrder, { paymentId, attemptId, ...CARD })
      orders.push({ paymentId, attemptId })
    }
    for (const order of orders) {
      await fault({ attemptId: order.attemptId })
      await expect(perform(process.activities.readPartnerOrder, order)).rejects.toThrow('answered 500')
    }
    await asks([process], 1)
    expect(process.questions()).toBe(1)
    expect(await down()).toEqual([])
  })

  test('three merchants with failing orders do not take a partner down while it opens others in between', async () => {
    const process = startProcess()
    const merchants = [newId('merchant'), newId('merchant'), newId('merchant')]
    for (const [index, id] of merchants.entries()) await insertMerchant(db, { id, name: `Shop ${index}` })
    const fails = async (index: number): Promise<void> => {
      const attemptId = newId('attempt')
      await fault({ attemptId })
      await buys(process, { attemptId, merchantId: merchants[index % 3]! })
      await asks([process], 1)
    }
    for (let order = 0; order < 4; order++) await fails(order)
    expect(await buys(process)).toBe('redirect')
    for (let order = 0; order < 4; order++) await fails(order)
    expect(await down()).toEqual([])
    // Without an opened order, a fifth is proof that it opens none.
    await fails(4)
    expect(await down()).toEqual(['card_partner opens_nothing'])
  })
})

test('a payment whose partner is up costs no additional statement', async () => {
  let statements = 0
  const counted: Db = {
    ...db,
    query: (...asked) => {
      statements += 1
      return db.query(...asked)
    },
    transaction: (work) => {
      statements += 1
      return db.transaction(work)
    },
  }
  const process = startProcess({ on: counted })
  expect(await buys(process)).toBe('redirect')
  expect(statements).toBe(0)
})

async function claimed(): Promise<void> {
  for (;;) {
    const [standing] = await listStandings(db)
    if (standing?.askAt !== null && (standing?.askAt ?? 0) > Date.now() + 10_000) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}
