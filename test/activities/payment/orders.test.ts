import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import type { PaymentActivities } from '../../../src/activities/payment/payment.ts'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { recordCallback } from '../../../src/db/payments/partner-callbacks.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { EXTENSION_MS, MAX_ATTEMPTS } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { createRates } from '../../../src/partners/converter/rates.ts'
import { limitPartners } from '../../../src/partners/decorators/limited.ts'
import { PartnerError } from '../../../src/partners/provider.ts'
import { extendPayment } from '../../../src/payments/extend-payment.ts'
import { perform } from './fixture.ts'
import { createMoneyFixture, eur, LATE, type MoneyFixture } from './money-fixture.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.clearFaults())

describe('opening an order', () => {
  const CARD = { provider: 'card_partner', method: 'card' } as const
  const APP = { provider: 'wallet_app', method: 'banking_app' } as const
  const TRANSFER = { provider: 'local_partner', method: 'bank_transfer' } as const

  type Opened = Awaited<ReturnType<PaymentActivities['openPartnerOrder']>>

  function open(
    paymentId: string,
    choice: typeof CARD | typeof APP | typeof TRANSFER,
    by: PaymentActivities = fixture.activities(),
  ): Promise<Opened> {
    return perform(by.openPartnerOrder, { paymentId, attemptId: newId('attempt'), ...choice })
  }

  /** A payment with this number of failed attempts. */
  async function started(times: number): Promise<string> {
    const { id } = await fixture.checkout.create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    await fixture.checkout.change(id, (draft) => {
      for (let attempt = 0; attempt < times; attempt++) {
        const attemptId = newId('attempt')
        draft.addAttempt({ id: attemptId, ...APP, asked: { minor: '4999', currency: 'EUR' } })
        draft.setAttempt(attemptId, { status: 'declined' })
      }
    })
    return id
  }
  const readAttempts = async (id: string) => (await loadPayment(fixture.checkout.db, id)).attempts

  test('an opening asks the partner for the stored amount, also if another try has stored it', async () => {
    const { id } = await fixture.opened()
    const { local_partner } = fixture.deps.partners
    const attemptId = newId('attempt')
    const asked: string[] = []
    /** The rate of EUR moves between the tries. `before` runs before this try reads it. */
    const worker = (rate: string, before: () => Promise<unknown>) =>
      fixture.activities({
        rates: {
          current: async (currency) => {
            await before()
            const asOf = new Date().toISOString()
            return { currency, rate: currency === 'EUR' ? rate : '0.0119', source: 'test', asOf }
          },
        },
        partners: {
          ...fixture.deps.partners,
          local_partner: {
            ...local_partner,
            openOrder: (order, signal) => {
              asked.push(order.amount.minor)
              return local_partner.openOrder(order, signal)
            },
          },
        },
      })
    const tryWith = (rate: string, before: () => Promise<unknown>) =>
      perform(worker(rate, before).openPartnerOrder, { paymentId: id, attemptId, ...TRANSFER })
    let first: Promise<unknown> | undefined
    await tryWith('1.09', () => (first ??= tryWith('1.08', async () => undefined)))
    const stored = (await readAttempts(id)).find((attempt) => attempt.id === attemptId)?.asked.minor
    expect(asked).toEqual([stored, stored])
  })

  test('the page of the answer that was recorded first stays, because the buyer might have it', async () => {
    const id = await started(0)
    const attemptId = newId('attempt')
    const { card_partner } = fixture.deps.partners
    let opened = 0
    const partners = {
      ...fixture.deps.partners,
      card_partner: {
        ...card_partner,
        openOrder: async () => {
          const mine = ++opened
          // Another try of the opening overtakes this one.
          if (mine === 1) await tryOnce()
          const redirectUrl = `https://partner.example/${mine}`
          return { kind: 'opened' as const, reference: `order-${mine}`, redirectUrl, intentUri: null }
        },
      },
    }
    const tryOnce = () =>
      perform(fixture.activities({ partners }).openPartnerOrder, { paymentId: id, attemptId, ...CARD })
    expect((await tryOnce()).answer).toEqual({ kind: 'redirect', attemptId, url: 'https://partner.example/2' })
    expect(await readAttempts(id)).toMatchObject([
      { partnerReference: 'order-2', redirectUrl: 'https://partner.example/2' },
    ])
  })

  test('an order expires when its payment does, or as near to that as its partner accepts', async () => {
    const id = await started(0)
    const { card_partner } = fixture.deps.partners
    const asked: number[] = []
    const openOrder: typeof card_partner.openOrder = async ({ expiresAt }) => {
      asked.push(expiresAt - Math.floor(Date.now() / 1000))
      return { kind: 'declined', failureCode: 'declined' }
    }
    for (const lifetime of [undefined, { least: 7200, most: 86_400 }, { least: 60, most: 1800 }]) {
      const limited = { ...card_partner, openOrder, ...(lifetime && { lifetime }) }
      await open(id, CARD, fixture.activities({ partners: { ...fixture.deps.partners, card_partner: limited } }))
    }
    expect(asked.map((seconds) => Math.round(seconds / 100) * 100)).toEqual([3600, 7200, 1800])
  })

  test('an opening that was given up asks no other partner, and does not count against one', async () => {
    const { id } = await fixture.opened()
    const { partners } = fixture.deps
    const environment = new MockActivityEnvironment()
    const asked: string[] = []
    let isWhole: boolean | undefined
    const hanging = fixture.activities({
      partners: {
        ...partners,
        wallet_app: {
          ...partners.wallet_app,
          cancelOrder: (order, signal) => {
            environment.cancel()
            return partners.wallet_app.cancelOrder!(order, signal).catch((error: PartnerError) => {
              isWhole = error.isWhole
              throw error
            })
          },
        },
        card_partner: {
          ...partners.card_partner,
          openOrder: (order, signal) => {
            asked.push(order.attemptId)
            return partners.card_partner.openOrder(order, signal)
          },
        },
      },
    })
    const opening = environment.run(hanging.openPartnerOrder, { paymentId: id, attemptId: newId('attempt'), ...CARD })
    await expect(opening).rejects.toThrow('the call was given up')
    expect([isWhole, asked, (await readAttempts(id)).length]).toEqual([false, [], 1])
  })

  describe('The twentieth order of a payment', () => {
    test('the twentieth order is opened, and is the last', async () => {
      const id = await started(MAX_ATTEMPTS - 1)
      expect((await open(id, CARD)).answer.kind).toBe('redirect')
      expect((await open(id, APP)).answer).toEqual({ kind: 'too_many_attempts' })
      // The refused click changed nothing: the open order can still be paid.
      const last = (await readAttempts(id)).at(-1)
      expect(last).toMatchObject({ ...CARD, status: 'open' })
      const again = await open(id, CARD)
      expect(again.answer).toEqual({ kind: 'redirect', attemptId: last?.id, url: last?.redirectUrl })
      expect(await readAttempts(id)).toHaveLength(MAX_ATTEMPTS)
    })

    test('the twentieth order is opened once by two clicks at the same moment: the second is refused under the lock', async () => {
      const id = await started(MAX_ATTEMPTS - 1)
      const other: Promise<Opened>[] = []
      const { rates } = fixture.deps
      // A rate is requested between the read of the row and its lock.
      const slower = fixture.activities({
        rates: {
          current: async (currency) => {
            if (other.length === 0) other.push(open(id, CARD))
            await other[0]
            return rates.current(currency)
          },
        },
      })
      const orders = async () =>
        (await (await fetch(`${fixture.sandbox.url}/local-partner/sandbox/orders`)).json()) as object[]
      const before = (await orders()).length
      expect((await open(id, TRANSFER, slower)).answer).toEqual({ kind: 'too_many_attempts' })
      expect((await other[0])?.answer.kind).toBe('redirect')
      expect(await readAttempts(id)).toHaveLength(MAX_ATTEMPTS)
      expect(await orders()).toHaveLength(before)
    })
  })

  test('going back to an order while a newer one is open cancels the newer one first', async () => {
    const { id } = await fixture.checkout.create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    const first = await open(id, TRANSFER)
    await open(id, CARD)
    // An order of this partner cannot be canceled, so both were open until now.
    expect((await readAttempts(id)).map(({ status }) => status)).toEqual(['open', 'open'])
    expect((await open(id, TRANSFER)).answer).toEqual(first.answer)
    expect((await readAttempts(id)).map(({ status }) => status)).toEqual(['open', 'canceled'])
  })

  test('an amount in another currency is not charged at an old rate', async () => {
    const { id } = await fixture.checkout.create()
    const rates = createRates(fixture.sandbox.converter(), {
      refreshSeconds: 10,
      clock: fixture.sandbox.now,
      accept: async (all) => all,
    })
    const by = fixture.activities({ rates })
    await fixture.sandbox.fault('converter', { fault: 'old_rates', seconds: 601 })
    await expect(open(id, TRANSFER, by)).rejects.toThrow('there is no current rate of')
    expect(await readAttempts(id)).toEqual([])
    await fetch(`${fixture.sandbox.url}/converter/sandbox/faults`, { method: 'DELETE' })
    fixture.sandbox.advance(5)
    expect((await open(id, TRANSFER, by)).answer.kind).toBe('redirect')
  })

  describe('The description of a payment for its partner', () => {
    test('the partner receives as much of the description as it accepts, and no half of a character', async () => {
      const description = `${'a'.repeat(199)}🎁 and more`
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
      const { id } = await fixture.checkout.create({ expiresAt, description })
      await open(id, APP)
      const orders = await fetch(`${fixture.sandbox.url}/wallet-app/sandbox/orders`)
      const [attempt] = await readAttempts(id)
      const opened = ((await orders.json()) as { attemptId: string; description: string }[]).find(
        (order) => order.attemptId === attempt?.id,
      )
      expect(opened?.description).toBe(`${'a'.repeat(199)}🎁`)
    })
  })
})

describe('reading an order', () => {
  const hour = () => new PartnerError('throttled', 'too many calls', { retryAfterSeconds: 3600 })
  const refused = () => new PartnerError('misconfigured', 'the account is refused')
  const failing = (calls: Partial<PaymentDeps['partners']['wallet_app']>): Partial<PaymentDeps> => {
    const { partners } = fixture.deps
    return { partners: { ...partners, wallet_app: { ...partners.wallet_app, ...calls } } }
  }

  test.each([
    ['asks to wait for an hour', hour, 'Partner.throttled'],
    ['refuses the account', refused, 'Partner.misconfigured'],
  ])('holds no workflow task while a partner %s', async (_what, trouble, type) => {
    const made = await fixture.opened()
    const changes = failing({ readOrder: () => Promise.reject(trouble()) })
    await expect(fixture.read(made, changes)).rejects.toMatchObject({ type, nonRetryable: true })
  })

  test('a payment that is closed asks within ten seconds again, although its partner asks for an hour', async () => {
    const { id } = await fixture.opened()
    const changes = failing({ cancelOrder: () => Promise.reject(hour()) })
    await expect(fixture.closeAs(id, 'expired', changes)).rejects.toMatchObject({ nextRetryDelay: 10_000 })
  })

  test('reads the order although its partner does not answer about the give-back', async () => {
    const made = await fixture.paid('6000')
    await fixture.giveBack(made, failing({ refundOrder: async () => ({ kind: 'pending' }) }))
    const order = await fixture.deps.partners.wallet_app.readOrder(
      { ...made, reference: null },
      AbortSignal.timeout(5000),
    )
    if (order === null) throw new Error('there is no order')
    const changes = failing({
      refundOrder: () => Promise.reject(hour()),
      readOrder: async () => ({ ...order, received: { minor: '7000', currency: 'EUR' } }),
    })
    await fixture.read(made, changes)
    expect(await fixture.held(made.id)).toEqual(['paid 7000'])
  })
})

describe('canceling an order', () => {
  /** The wallet app with another `cancelOrder`. */
  function app(cancelOrder: (attemptId: string) => Promise<never>): Partial<PaymentDeps> {
    const { partners } = fixture.deps
    const changed = {
      ...partners.wallet_app,
      cancelOrder: ({ attemptId }: { attemptId: string }) => cancelOrder(attemptId),
    }
    return { partners: { ...partners, wallet_app: changed } }
  }

  const silent = () => app(() => Promise.reject(new PartnerError('unknown', 'no answer')))

  /** The status of each order, with a mark if its cancellation is still open. */
  const orders = async (id: string): Promise<string[]> =>
    (await fixture.state(id)).attempts.map(
      ({ status, cancelAsked }) => `${status}${cancelAsked ? ', to be canceled' : ''}`,
    )
  const atPartner = async (attemptId: string) =>
    (await fixture.deps.partners.wallet_app.readOrder({ attemptId, reference: null }, AbortSignal.timeout(5000)))
      ?.status
  const killed = () => Promise.reject(new Error('the process was killed here'))

  test('a queue for a partner does not count as the partner’s silence: a payment is closed without an answer only after two minutes', async () => {
    const { id } = await fixture.opened()
    const { partners = fixture.deps.partners } = app(() => new Promise<never>(() => undefined))
    const limited = { ...partners, ...limitPartners(partners) }
    for (let call = 0; call < 12; call++)
      void limited.wallet_app.cancelOrder?.({ attemptId: 'att_1', reference: null }, AbortSignal.timeout(60_000))
    const closeAt = (attempt: number) =>
      perform(
        fixture.activities({ partners: limited }).closeUnpaid,
        { paymentId: id, as: 'expired' as const, now: LATE },
        { attempt },
      )
    await expect(closeAt(4)).rejects.toMatchObject({ type: 'NotYet' })
    expect((await fixture.payment(id)).status).toBe('pending')
    expect((await closeAt(20)).payment.status).toBe('expired')
  })

  describe('The cancellation of a partner’s order is stored before the partner is asked', () => {
    test('a cancellation that was killed before its request is carried out by the next reading of the order', async () => {
      const { id, attemptId } = await fixture.opened()
      await expect(fixture.closeAs(id, 'canceled', app(killed))).rejects.toThrow('killed here')
      expect(await orders(id)).toEqual(['open, to be canceled'])
      expect(await atPartner(attemptId)).toBe('open')
      await fixture.read({ id, attemptId })
      expect(await atPartner(attemptId)).toBe('canceled')
      expect(await orders(id)).toEqual(['canceled'])
    })

    test('a cancellation that was killed after the partner had done it ends, once', async () => {
      const { id } = await fixture.opened()
      const { wallet_app: real } = fixture.deps.partners
      const done = app(async (attemptId) => {
        await real.cancelOrder?.({ attemptId, reference: null }, AbortSignal.timeout(5000))
        return killed()
      })
      await expect(fixture.closeAs(id, 'canceled', done)).rejects.toThrow('killed here')
      expect((await fixture.closeAs(id, 'canceled')).payment).toMatchObject({ status: 'canceled', listenUntil: null })
      expect(await orders(id)).toEqual(['canceled'])
    })

    test('a silent partner is asked to cancel by every reading, also when the payment is closed', async () => {
      const { id, attemptId } = await fixture.opened()
      const closing = { paymentId: id, as: 'expired' as const, now: LATE }
      const closed = await perform(fixture.activities(silent()).closeUnpaid, closing, { attempt: 4 })
      expect([closed.payment.status, await orders(id)]).toEqual(['expired', ['open, to be canceled']])
      await fixture.checkout.db.query("update attempt set updated_at = now() - interval '2 hours' where id = $1", [
        attemptId,
      ])
      expect(await fixture.attention(id)).toEqual(['cancel_pending wallet_app'])
      expect((await fixture.read({ id, attemptId })).payment).toMatchObject({ status: 'expired', listenUntil: null })
      expect(await atPartner(attemptId)).toBe('canceled')
      expect(await fixture.attention(id)).toEqual([])
    })

    test('a cancellation by a merchant asks a partner that is down once, and late money is still taken', async () => {
      const { id, attemptId } = await fixture.opened()
      let calls = 0
      const down = app(() => Promise.reject(new PartnerError('unknown', `no answer to call ${++calls}`)))
      expect((await fixture.closeAs(id, 'canceled', down)).payment.status).toBe('canceled')
      expect(calls).toBe(1)
      await fixture.act(attemptId, { action: 'pay' })
      expect((await fixture.read({ id, attemptId })).payment).toMatchObject({
        status: 'processing',
        exception: 'paid_late',
      })
    })

    test('a cancellation loses to money that arrived: the payment is paid, and nothing keeps it from being settled', async () => {
      const { id, attemptId } = await fixture.opened()
      await expect(fixture.closeAs(id, 'canceled', app(killed))).rejects.toThrow('killed here')
      await fixture.act(attemptId, { action: 'pay' })
      expect((await fixture.read({ id, attemptId })).payment).toMatchObject({ status: 'processing' })
      expect(await orders(id)).toEqual(['paid'])
      await fixture.handOver(id)
      expect((await fixture.payment(id)).status).toBe('settling')
    })

    test('a cancellation is given up when late money is no longer expected: nothing is left open without a workflow', async () => {
      const { id } = await fixture.opened()
      const unknown = app(async () => null as never)
      await fixture.closeAs(id, 'canceled', unknown)
      expect(await orders(id)).toEqual(['open, to be canceled'])
      await fixture.closeAs(id, 'listening_ended', unknown)
      expect(await orders(id)).toEqual(['open'])
      expect((await fixture.payment(id)).closedAt).not.toBeNull()
    })
  })

  test('more time that is given while the partner cancels the order keeps the payment open until the new end', async () => {
    const { id } = await fixture.opened()
    const { db } = fixture.checkout
    const end = Date.parse((await fixture.payment(id)).expiresAt)
    const context = { publicUrl: 'https://pay.example', now: () => end - 60_000 }
    const { wallet_app: real } = fixture.deps.partners
    const slow = app(async (attemptId) => {
      await extendPayment(db, context, id)
      return real.cancelOrder?.({ attemptId, reference: null }, AbortSignal.timeout(5000)) as Promise<never>
    })
    const passed = { paymentId: id, as: 'expired' as const, now: end + 1000 }
    await perform(fixture.activities(slow).closeUnpaid, passed)
    expect(await fixture.payment(id)).toMatchObject({ status: 'pending', expiryExtended: true })
    await perform(fixture.activities().closeUnpaid, { ...passed, now: end + EXTENSION_MS - 1 })
    expect((await fixture.payment(id)).status).toBe('pending')
    await perform(fixture.activities().closeUnpaid, { ...passed, now: end + EXTENSION_MS })
    expect((await fixture.payment(id)).status).toBe('expired')
  })

  describe('A buyer who chooses another method', () => {
    const card = (paymentId: string) => ({
      paymentId,
      attemptId: newId('attempt'),
      provider: 'card_partner' as const,
      method: 'card' as const,
    })

    test('another choice cancels the first order, on record; after a cut-off, no buyer is sent to it again', async () => {
      const { id, attemptId } = await fixture.opened()
      await expect(perform(fixture.activities(app(killed)).openPartnerOrder, card(id))).rejects.toThrow('killed here')
      expect(await orders(id)).toEqual(['open, to be canceled'])
      const again = await fixture.open(id)
      expect(again).not.toBe(attemptId)
      expect(await orders(id)).toEqual(['canceled', 'open'])
      expect(await atPartner(attemptId)).toBe('canceled')
    })

    test('another choice works while the first partner is down, and the first order is canceled when the partner answers', async () => {
      const { id } = await fixture.checkout.create()
      const { partners } = fixture.deps
      const lost: Partial<PaymentDeps> = {
        partners: {
          ...partners,
          wallet_app: {
            ...partners.wallet_app,
            // The order exists, and its response is lost.
            openOrder: async (order, signal) => {
              await partners.wallet_app.openOrder(order, signal)
              throw new PartnerError('unknown', 'no answer')
            },
          },
        },
      }
      const first = {
        paymentId: id,
        attemptId: newId('attempt'),
        provider: 'wallet_app',
        method: 'banking_app',
      } as const
      await expect(perform(fixture.activities(lost).openPartnerOrder, first)).rejects.toThrow('no answer')
      const { answer } = await perform(fixture.activities(silent()).openPartnerOrder, card(id))
      expect(answer.kind).toBe('redirect')
      expect(await orders(id)).toEqual(['opening, to be canceled', 'open'])
      await fixture.read({ id, attemptId: first.attemptId })
      expect(await atPartner(first.attemptId)).toBe('canceled')
      expect(await orders(id)).toEqual(['canceled', 'open'])
    })

    test('a buyer who has opened the page of a partner that is down pays with another method, and the order is still read', async () => {
      const { id, attemptId } = await fixture.opened()
      const opened = await perform(fixture.activities(silent()).openPartnerOrder, card(id))
      expect(opened.answer.kind).toBe('redirect')
      expect(await orders(id)).toEqual(['open, to be canceled', 'open'])
      await fixture.sandbox.act('card_partner', opened.payment.attempts[1]?.id ?? '', { action: 'pay' })
      await fixture.read({ id, attemptId: opened.payment.attempts[1]?.id ?? '' })
      await fixture.act(attemptId, { action: 'pay' })
      expect((await fixture.read({ id, attemptId })).payment).toMatchObject({
        exception: 'duplicate_payment',
        reviews: [{ reason: 'excess' }],
      })
    })

    test('an order that never reached its partner ends with the first answer of that partner', async () => {
      const { id } = await fixture.checkout.create()
      const attemptId = newId('attempt')
      await fixture.fault({ fault: 'timeout_before_effect', operation: 'open', mode: 'close' })
      const first = { paymentId: id, attemptId, provider: 'wallet_app', method: 'banking_app' } as const
      await expect(perform(fixture.activities().openPartnerOrder, first)).rejects.toThrow()
      await perform(fixture.activities(silent()).openPartnerOrder, card(id))
      expect(await orders(id)).toEqual(['opening, to be canceled', 'open'])
      await fixture.read({ id, attemptId })
      expect((await fixture.state(id)).attempts).toMatchObject([
        { status: 'canceled', partnerReference: null },
        { status: 'open' },
      ])
    })

    test('a buyer whose first order cannot be canceled opens another one', async () => {
      const { id } = await fixture.opened()
      const partners = { ...fixture.deps.partners, wallet_app: { ...fixture.deps.partners.wallet_app } }
      delete partners.wallet_app.cancelOrder
      const { answer } = await perform(fixture.activities({ partners }).openPartnerOrder, card(id))
      expect(answer.kind).toBe('redirect')
      expect(await orders(id)).toEqual(['open', 'open'])
    })
  })
})

describe('Strange responses', () => {
  const lines = async (id: string): Promise<string[]> => {
    const { rows } = await fixture.checkout.db.query(
      `select t.kind, e.account, e.asset, e.amount::text from ledger_transaction t
     join ledger_entry e on e.transaction_id = t.id where t.payment_id = $1 order by t.id, e.line`,
      [id],
    )
    return rows.map(({ kind, account, asset, amount }) => `${kind} ${account} ${asset} ${amount}`)
  }
  const pickUsdc = (all: readonly string[]) => all.filter((line) => line.includes('USDC'))

  describe('A callback about an order with money', () => {
    async function payWithCallback() {
      const made = await fixture.paid()
      const subject = { attemptId: made.attemptId }
      const event = { provider: 'wallet_app', eventId: newId('request'), subject } as const
      const at = new Date().toISOString()
      await recordCallback(fixture.checkout.db, { ...event, bodySha256: new Uint8Array(32), at })
      const readOrder = (order: PartnerOrder | null) =>
        fixture.read(made, {
          partners: {
            ...fixture.deps.partners,
            wallet_app: { ...fixture.deps.partners.wallet_app, readOrder: async () => order },
          },
        })
      const isUnread = async () => (await fixture.state(made.id)).unread.has(made.attemptId)
      return { made, readOrder, isUnread }
    }

    test('a callback stays unread while the partner does not know the order', async () => {
      const { made, readOrder, isUnread } = await payWithCallback()
      await readOrder(null)
      expect([await isUnread(), await fixture.standing(made.id)]).toEqual([true, 'processing'])
    })

    test('a callback stays unread while the response can be older than the last reading', async () => {
      const { made, isUnread } = await payWithCallback()
      const change = () =>
        fixture.checkout.change(made.id, (draft) => draft.setAttempt(made.attemptId, { silent: true }))
      const old = { received: eur('12000') }
      await fixture.read(made, fixture.says(old, { meanwhile: change }))
      expect([await isUnread(), await fixture.held(made.id)]).toEqual([true, ['paid 10000']])
      await fixture.read(made, fixture.says(old))
      expect([await isUnread(), await fixture.held(made.id)]).toEqual([false, ['paid 12000']])
    })

    test('a callback stops the money for an operator if the response is about another order, until one fits', async () => {
      const { made, readOrder, isUnread } = await payWithCallback()
      const amount = { minor: '1', currency: 'EUR' } as const
      const about = { attemptId: 'att_other', account: 'another account', reference: 'r' }
      await readOrder({ ...about, status: 'refunded', amount, received: null, failureCode: null })
      expect([await isUnread(), await fixture.standing(made.id)]).toEqual([false, 'under_review odd_order'])
      expect(await fixture.held(made.id)).toEqual(['paid 10000'])
      await fixture.read(made)
      expect(await fixture.standing(made.id)).toBe('processing')
    })
  })

  test('a response from before more money arrived removes none of it', async () => {
    const made = await fixture.paid('6000')
    const more = async () => {
      await fixture.act(made.attemptId, { action: 'top_up', receivedMinor: '10000' })
      await fixture.read(made)
    }
    await fixture.read(made, fixture.says({}, { meanwhile: more }))
    expect(await fixture.held(made.id)).toEqual(['paid 10000'])
  })

  describe('A fill that arrives while something else happens', () => {
    /** A converter that answers when the test releases it. */
    function slowConverter(micro: string) {
      let release: () => void = () => undefined
      let reached: () => void = () => undefined
      const asked = new Promise<void>((resolve) => {
        reached = resolve
      })
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      const convert = async () => {
        reached()
        await gate
        return { kind: 'filled', microUsdc: micro, reference: 'slow' } as const
      }
      return { converter: { ...fixture.deps.converter, convert }, asked, release: () => release() }
    }
    const fills = (micro: string) => ({
      ...fixture.deps.converter,
      convert: async () => ({ kind: 'filled', microUsdc: micro, reference: 'quick' }) as const,
    })

    test('a fill during a hold is on record and owned, and counts after the release', async () => {
      const { id } = await fixture.paid()
      const slow = slowConverter('108000000')
      const converting = fixture.trySettle(id, { converter: slow.converter })
      await slow.asked
      await fixture.decide(id, 'hold')
      slow.release()
      await converting
      expect(pickUsdc(await lines(id))).toEqual([
        'payment.sold conversion USDC 108000000',
        'payment.sold exchange USDC -108000000',
      ])
      expect(await loadPayment(fixture.checkout.db, id)).toMatchObject({
        payment: { status: 'under_review' },
        sales: [{ state: 'filled', fill: 108_000_000n, reference: 'slow' }],
      })
      await fixture.decide(id, 'release')
      await fixture.trySettle(id, { converter: fills('1') })
      expect((await loadPayment(fixture.checkout.db, id)).payment.usdc).toEqual({
        gross: '108000000',
        fee: '4860000',
        net: '103140000',
      })
    })

    test('a second response to the same key is ignored: the one on record counts', async () => {
      const { id } = await fixture.paid()
      const slow = slowConverter('7000000')
      const converting = fixture.trySettle(id, { converter: slow.converter })
      await slow.asked
      await fixture.trySettle(id, { converter: fills('5000000') })
      await fixture.decide(id, 'settle')
      slow.release()
      await converting
      expect((await lines(id)).filter((line) => line.includes('conversion USDC'))).toEqual([
        'payment.under_review conversion USDC 5000000',
      ])
    })
  })
})
