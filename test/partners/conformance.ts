import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { ProviderName } from '../../src/domain/methods.ts'
import type { Money } from '../../src/domain/money.ts'
import type { PartnerSettings } from '../../src/domain/partner/drivers.ts'
import type { PartnerOrder } from '../../src/domain/payment/partner.ts'
import { newId } from '../../src/ids.ts'
import { PartnerError, type PaymentPartner } from '../../src/partners/provider.ts'
import { ACCOUNT, PATHS, type SandboxServer, soon } from './sandbox-server.ts'

/** The differences between partners. The rest of the suite is the same for every driver. */
export type Traits = {
  /** True if an order is found without the partner's reference. */
  readonly findsByAttempt: boolean
  /** True if the partner reports that it checks the buyer's identity. */
  readonly reportsChecks: boolean
  /** True if the partner reports that it withholds money. Otherwise it is still confirming. */
  readonly reportsHolds: boolean
  /** True if the partner can decline an order when it is opened. */
  readonly declinesOpenings: boolean
  /** True if the buyer pays on a page of the partner. */
  readonly hasPage: boolean
  /** True if the partner reports that the buyer did not pass a check. */
  readonly namesFailedChecks: boolean
  readonly cancels: boolean
  /** True if an opening that is repeated after the payment gets the same answer. Otherwise it gets none. */
  readonly repeatsOpenings: boolean
  /** The reason of a refund that the partner refuses for want of money. */
  readonly refusal: string
}

const USUAL: Traits = {
  findsByAttempt: true,
  reportsChecks: true,
  reportsHolds: true,
  declinesOpenings: true,
  hasPage: true,
  namesFailedChecks: true,
  cancels: true,
  repeatsOpenings: true,
  refusal: 'the balance is too low',
}

const BY_DRIVER: Readonly<Partial<Record<PartnerSettings['driver'], Partial<Traits>>>> = {
  stripe: { findsByAttempt: false, reportsChecks: false, refusal: 'balance_insufficient' },
  cashfree: {
    repeatsOpenings: false,
    reportsChecks: false,
    reportsHolds: false,
    declinesOpenings: false,
    hasPage: false,
    namesFailedChecks: false,
    refusal: 'insufficient_balance',
  },
  razorpay: {
    findsByAttempt: false,
    reportsChecks: false,
    reportsHolds: false,
    declinesOpenings: false,
    hasPage: false,
    namesFailedChecks: false,
  },
  revolut: {
    findsByAttempt: false,
    reportsChecks: false,
    reportsHolds: false,
    declinesOpenings: false,
    refusal: 'insufficient_balance',
  },
}

const getTraits = (provider: ProviderName, driver: PartnerSettings['driver']): Traits => ({
  ...USUAL,
  cancels: driver !== 'simulator' || provider !== 'local_partner',
  ...BY_DRIVER[driver],
})

type Conforming = {
  readonly provider: ProviderName
  readonly driver?: PartnerSettings['driver']
  /** For a driver that the table above does not have. */
  readonly traits?: Partial<Traits>
}

/** The conformance suite: every driver passes it against a simulator of its partner's protocol. */
export function describeConformance(
  title: string,
  { provider, driver = 'simulator', traits: own = {} }: Conforming,
  start: () => Promise<SandboxServer>,
): void {
  const traits = { ...getTraits(provider, driver), ...own }
  const { findsByAttempt, reportsChecks, reportsHolds, declinesOpenings, cancels, refusal } = traits
  describe(title, () => {
    let server: SandboxServer
    let partner: PaymentPartner
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server.close())
    beforeEach(async () => {
      partner = server.partners()[provider]
      await fetch(`${server.url}${PATHS[provider]}/sandbox/faults`, { method: 'DELETE' })
      await server.takeCallbacks(provider)
    })

    const open = async (changes = {}) => {
      const order = server.newOrder(provider, changes)
      const opened = await partner.openOrder(order, soon())
      if (opened.kind !== 'opened') throw new Error('expected an opened order')
      references.set(order.attemptId, opened.reference)
      return { order, opened, attemptId: order.attemptId }
    }
    /** The partner's references, as the platform stores them. */
    const references = new Map<string, string>()
    const refTo = (attemptId: string) => ({ attemptId, reference: references.get(attemptId) ?? null })
    /** Reads the order as the platform does: with the disputes that the sweep has found for its payments. */
    const read = async (attemptId: string) => {
      const order = await partner.readOrder(refTo(attemptId), soon())
      const payments = order?.payments ?? []
      if (payments.length === 0) return order
      const all = (await partner.listDisputes?.(0, soon())) ?? []
      const disputes = all.filter(({ payment }) => payments.includes(payment)).map(({ id }) => id)
      return partner.readOrder({ ...refTo(attemptId), disputes }, soon())
    }
    const catchTrouble = async (call: Promise<unknown>): Promise<PartnerError> => {
      const error = await call.then(
        () => null,
        (thrown: unknown) => thrown,
      )
      if (!(error instanceof PartnerError)) throw new Error(`expected a PartnerError, got ${String(error)}`)
      return error
    }

    test('an opened order is read back as it was requested', async () => {
      const { order, opened } = await open()
      const page = new RegExp(`^${server.url}${PATHS[provider]}/pay/`)
      if (traits.hasPage) expect(opened.redirectUrl).toMatch(page)
      else expect(opened).toMatchObject({ redirectUrl: order.returnUrl, intentUri: expect.stringMatching(/^upi:/) })
      const { disputes = [], ...opening } = (await read(order.attemptId)) as PartnerOrder
      expect(disputes).toEqual([])
      expect(opening).toEqual({
        attemptId: order.attemptId,
        reference: opened.reference,
        account: ACCOUNT,
        status: 'open',
        amount: order.amount,
        received: null,
        failureCode: null,
      })
    })

    test('a repeated opening with the same key returns the same order', async () => {
      const { order, opened } = await open()
      expect(await partner.openOrder(order, soon())).toEqual(opened)
    })

    test('the same key with another amount is refused and opens no second order', async () => {
      const { order } = await open()
      const other = { ...order, amount: { ...order.amount, minor: '999' } }
      expect((await catchTrouble(partner.openOrder(other, soon()))).kind).toBe('unknown')
      expect((await read(order.attemptId))?.amount).toEqual(order.amount)
    })

    test('an attempt that the partner does not know reads as null', async () => {
      expect(await read(newId('attempt'))).toBeNull()
      expect(await partner.readOrder({ attemptId: newId('attempt'), reference: 'unknown' }, soon())).toBeNull()
    })

    test('a paid order has the received amount', async () => {
      const { order } = await open()
      await server.act(provider, order.attemptId, { action: 'pay' })
      expect(await read(order.attemptId)).toMatchObject({ status: 'paid', received: order.amount, failureCode: null })
    })

    test.each([
      ['1', '1'],
      ['100', '100'],
      ['1999', '1999'],
      ['10000000', '9999999'],
    ])('amounts are exact: asked %s, received %s minor units', async (minor, receivedMinor) => {
      const { order } = await open({ amount: { ...server.newOrder(provider).amount, minor } })
      await server.act(provider, order.attemptId, { action: 'pay', receivedMinor })
      const found = await read(order.attemptId)
      expect(found?.amount.minor).toBe(minor)
      expect(found?.received).toEqual({ minor: receivedMinor, currency: order.amount.currency })
    })

    test('every state of the partner has a status of the platform', async () => {
      const after = async (...acts: Record<string, unknown>[]) => {
        const { attemptId } = await open()
        for (const act of acts) expect((await server.act(provider, attemptId, act)).status).toBe(200)
        const found = await read(attemptId)
        return [found?.status, found?.failureCode]
      }
      const checked = [reportsChecks ? 'verification_required' : 'open', null]
      expect(await after({ action: 'require_verification' })).toEqual(checked)
      expect(await after({ action: 'pay', buyer: newId('request') })).toEqual(checked)
      expect(await after({ action: 'require_verification' }, { action: 'verify' })).toEqual(['paid', null])
      expect(await after({ action: 'require_verification' }, { action: 'fail_verification' })).toEqual([
        'declined',
        traits.namesFailedChecks ? 'verification_failed' : 'declined',
      ])
      expect(await after({ action: 'pay', seconds: 60 })).toEqual(['confirming', null])
      expect(await after({ action: 'pay', seconds: 60 }, { action: 'confirm' })).toEqual(['paid', null])
      expect(await after({ action: 'hold' })).toEqual([reportsHolds ? 'on_hold' : 'confirming', null])
      expect(await after({ action: 'hold' }, { action: 'release' })).toEqual(['paid', null])
      expect(await after({ action: 'pay' }, { action: 'reverse' })).toEqual(['declined', 'reversed'])
      expect(await after({ action: 'expire' })).toEqual(['expired', null])
      for (const failureCode of ['declined', 'insufficient_funds', 'partner_unavailable'])
        expect(await after({ action: 'decline', failureCode })).toEqual(['declined', failureCode])
      const left = await after({ action: 'cancel' })
      expect(left).toEqual(cancels ? ['canceled', null] : ['declined', 'abandoned'])
    })

    test('a list of disputes has each of them once, with a payment of its order', async () => {
      if (partner.listDisputes === undefined) return
      const before = new Set((await partner.listDisputes(0, soon())).map(({ id }) => id))
      const payments: string[] = []
      for (let number = 0; number < 3; number += 1) {
        const { attemptId } = await open()
        await server.act(provider, attemptId, { action: 'pay' })
        payments.push(...((await read(attemptId))?.payments ?? []))
        await server.act(provider, attemptId, { action: 'reverse' })
      }
      const found = (await partner.listDisputes(0, soon())).filter(({ id }) => !before.has(id))
      expect(found).toHaveLength(3)
      expect(new Set(found.map(({ id }) => id)).size).toBe(3)
      for (const { payment } of found) expect(payments).toContain(payment)
      expect(await partner.listDisputes(Math.floor(server.now() / 1000) + 60, soon())).toEqual([])
    })

    test('a delayed payment is confirming until its time has come', async () => {
      await server.fault(provider, { fault: 'delay', seconds: 1200, times: 1 })
      const { attemptId } = await open()
      await server.act(provider, attemptId, { action: 'pay' })
      expect(await read(attemptId)).toMatchObject({ status: 'confirming', received: null })
      server.advance(1201)
      expect((await read(attemptId))?.status).toBe('paid')
    })

    test('an order expires at its time, and takes no money after it', async () => {
      const { attemptId } = await open()
      server.advance(3601)
      expect((await read(attemptId))?.status).toBe('expired')
      expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(409)
      expect(await read(attemptId)).toMatchObject({ status: 'expired', received: null })
    })

    test('a running identity check keeps the order open for a day longer', async () => {
      if (!reportsChecks) return
      const { attemptId } = await open()
      await server.act(provider, attemptId, { action: 'require_verification' })
      server.advance(3600 + 86_000)
      expect((await read(attemptId))?.status).toBe('verification_required')
      server.advance(500)
      expect((await read(attemptId))?.status).toBe('expired')
    })

    test('a decline at the opening is a result, and does not change', async () => {
      if (!declinesOpenings) return
      await server.fault(provider, { fault: 'decline_opening', times: 1, failureCode: 'insufficient_funds' })
      const order = server.newOrder(provider)
      const answer = { kind: 'declined', failureCode: 'insufficient_funds' }
      expect(await partner.openOrder(order, soon())).toEqual(answer)
      expect(await partner.openOrder(order, soon())).toEqual(answer)
    })

    test.each(['underpay', 'overpay'])(
      '%s: the order has the received amount, not the requested one',
      async (fault) => {
        await server.fault(provider, { fault, minor: '123456', times: 1 })
        const { order, attemptId } = await open()
        await server.act(provider, attemptId, { action: 'pay' })
        expect(await read(attemptId)).toMatchObject({
          status: 'paid',
          amount: order.amount,
          received: { minor: '123456', currency: order.amount.currency },
        })
      },
    )

    test('late money arrives after the order was closed', async () => {
      const { attemptId } = await open()
      await server.act(provider, attemptId, { action: 'cancel' })
      expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(409)
      await server.fault(provider, { fault: 'late_money', attemptId, times: 1 })
      expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(200)
      expect((await read(attemptId))?.status).toBe('paid')
    })

    test('the simulator can also pay an earlier order of the same checkout', async () => {
      const first = await open()
      await server.act(provider, first.attemptId, { action: 'cancel' })
      const second = await open({ returnUrl: first.order.returnUrl })
      await server.fault(provider, { fault: 'pay_twice', attemptId: second.attemptId, times: 1 })
      await server.act(provider, second.attemptId, { action: 'pay' })
      expect((await read(first.attemptId))?.status).toBe('paid')
      expect((await read(second.attemptId))?.status).toBe('paid')
    })

    describe('Canceling an order', () => {
      test('canceling is absent if the partner does not support it', () => {
        expect(partner.cancelOrder !== undefined).toBe(cancels)
      })

      test('canceling closes an open order, and returns a paid one unchanged', async () => {
        if (partner.cancelOrder === undefined) return
        const { attemptId } = await open()
        expect((await partner.cancelOrder(refTo(attemptId), soon()))?.status).toBe('canceled')
        expect((await partner.cancelOrder(refTo(attemptId), soon()))?.status).toBe('canceled')
        expect((await read(attemptId))?.status).toBe('canceled')
        expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(409)
        const paid = await open()
        await server.act(provider, paid.attemptId, { action: 'pay' })
        expect((await partner.cancelOrder(refTo(paid.attemptId), soon()))?.status).toBe('paid')
        expect(await partner.cancelOrder(refTo(newId('attempt')), soon())).toBeNull()
      })
    })

    describe('Refunding an order', () => {
      const refund = (attemptId: string, key = `${attemptId}:refund`, amount: Money | null = null) => {
        if (partner.refundOrder === undefined) throw new Error('expected the ability')
        return partner.refundOrder({ ...refTo(attemptId), key, amount }, soon())
      }

      test('a refund gives the money back once for a key', async () => {
        const { order, attemptId } = await open()
        await server.act(provider, attemptId, { action: 'pay' })
        expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
        expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
        expect(await read(attemptId)).toMatchObject({ status: 'refunded', received: order.amount })
        expect((await refund(attemptId, `${attemptId}:another`)).kind).toBe('refused')
      })

      test('a refund is refused if nothing was received, and for an unknown order', async () => {
        const { attemptId } = await open()
        expect((await refund(attemptId)).kind).toBe('refused')
        const nobody = newId('attempt')
        const outcome = await refund(nobody).catch((error: unknown) => error)
        expect(outcome instanceof PartnerError || (outcome as { kind: string }).kind === 'refused').toBe(true)
      })

      test('a refund can be refused, and can be requested again with the next key', async () => {
        const { attemptId } = await open()
        await server.act(provider, attemptId, { action: 'pay' })
        await server.fault(provider, { fault: 'refund_refused', times: 1 })
        expect(await refund(attemptId)).toEqual({ kind: 'refused', reason: refusal })
        expect(await refund(attemptId, `${attemptId}:refund:2`)).toEqual({ kind: 'refunded' })
      })

      test('parts of an order are refunded, each once for its key, until nothing is left', async () => {
        const { order, attemptId } = await open()
        const part = (minor: bigint): Money => ({ ...order.amount, minor: minor.toString() })
        const all = BigInt(order.amount.minor)
        await server.act(provider, attemptId, { action: 'pay' })
        expect(await refund(attemptId, `${attemptId}:refund`, part(100n))).toEqual({ kind: 'refunded' })
        expect(await refund(attemptId, `${attemptId}:refund`, part(100n))).toEqual({ kind: 'refunded' })
        expect(await read(attemptId)).toMatchObject({ status: 'paid', received: part(all - 100n) })
        expect((await refund(attemptId, `${attemptId}:refund:2`, part(all))).kind).toBe('refused')
        expect(await refund(attemptId, `${attemptId}:refund:3`, part(all - 100n))).toEqual({ kind: 'refunded' })
        expect((await read(attemptId))?.status).toBe('refunded')
        expect((await refund(attemptId, `${attemptId}:refund:4`, part(1n))).kind).toBe('refused')
      })

      test('a part of an order whose refund takes its time is there until its end', async () => {
        const { order, attemptId } = await open()
        const part = (minor: bigint): Money => ({ ...order.amount, minor: minor.toString() })
        await server.act(provider, attemptId, { action: 'pay' })
        await server.fault(provider, { fault: 'refund_pending', seconds: 600, times: 1 })
        const key = newId('refund')
        expect(await refund(attemptId, key, part(100n))).toEqual({ kind: 'pending' })
        expect((await read(attemptId))?.received).toEqual(order.amount)
        server.advance(601)
        expect((await read(attemptId))?.received).toEqual(part(BigInt(order.amount.minor) - 100n))
        expect(await refund(attemptId, key, part(100n))).toEqual({ kind: 'refunded' })
      })

      test('a refund is found by its key, and looking for it requests none', async () => {
        const { order, attemptId } = await open()
        const part: Money = { ...order.amount, minor: '100' }
        const find = (key: string) => partner.findRefund?.({ ...refTo(attemptId), key }, soon())
        await server.act(provider, attemptId, { action: 'pay' })
        expect(await find(`${attemptId}:refund`)).toBeNull()
        expect(await read(attemptId)).toMatchObject({ status: 'paid', received: order.amount })
        await refund(attemptId, `${attemptId}:refund`, part)
        await server.fault(provider, { fault: 'refund_pending', seconds: 600, times: 1 })
        await refund(attemptId, `${attemptId}:refund:2`, part)
        expect(await find(`${attemptId}:refund`)).toEqual({ kind: 'refunded' })
        expect(await find(`${attemptId}:refund:2`)).toEqual({ kind: 'pending' })
        expect(await find(`${attemptId}:refund:3`)).toBeNull()
        server.advance(601)
        expect(await find(`${attemptId}:refund:2`)).toEqual({ kind: 'refunded' })
        const nobody = { attemptId: newId('attempt'), reference: null }
        expect(await partner.findRefund?.({ ...nobody, key: `${nobody.attemptId}:refund` }, soon())).toBeNull()
      })

      test('a refund can stay pending for some time', async () => {
        const { attemptId } = await open()
        await server.act(provider, attemptId, { action: 'pay' })
        await server.fault(provider, { fault: 'refund_pending', seconds: 600, times: 1 })
        expect(await refund(attemptId)).toEqual({ kind: 'pending' })
        expect((await refund(attemptId, `${attemptId}:another`)).kind).toBe('refused')
        expect((await read(attemptId))?.status).toBe('paid')
        server.advance(601)
        expect((await read(attemptId))?.status).toBe('refunded')
        expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
      })

      test('a refund with a timeout after the effect does not refund twice', async () => {
        const { attemptId } = await open()
        await server.act(provider, attemptId, { action: 'pay' })
        await server.fault(provider, { fault: 'timeout_after_effect', operation: 'refund', times: 1 })
        expect((await catchTrouble(refund(attemptId))).kind).toBe('unknown')
        expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
      })
    })

    describe('Trouble of a call', () => {
      test('a timeout after the effect has an unknown result, and repeating the call finds the same order', async () => {
        await server.fault(provider, { fault: 'timeout_after_effect', operation: 'open', times: 1 })
        const order = server.newOrder(provider)
        expect((await catchTrouble(partner.openOrder(order, soon()))).kind).toBe('unknown')
        const found = await read(order.attemptId)
        const again = await partner.openOrder(order, soon())
        expect(found).toEqual(findsByAttempt ? expect.objectContaining({ status: 'open' }) : null)
        expect(again).toMatchObject({ kind: 'opened', ...(found !== null && { reference: found.reference }) })
        expect(await server.sandbox.partners[provider].book.find(order.attemptId)).toMatchObject(
          again.kind === 'opened' ? { reference: again.reference } : {},
        )
      })

      test('a timeout before the effect has an unknown result, and there is no order', async () => {
        await server.fault(provider, { fault: 'timeout_before_effect', operation: 'open', times: 1 })
        const order = server.newOrder(provider)
        expect((await catchTrouble(partner.openOrder(order, soon()))).kind).toBe('unknown')
        expect(await read(order.attemptId)).toBeNull()
      })

      test('an abort signal ends a call that gets no response', async () => {
        await server.fault(provider, { fault: 'timeout_before_effect', mode: 'hang', operation: 'read', times: 1 })
        const controller = new AbortController()
        const call = catchTrouble(partner.readOrder(refTo(newId('attempt')), controller.signal))
        controller.abort()
        expect((await call).kind).toBe('unknown')
        expect((await catchTrouble(partner.openOrder(server.newOrder(provider), AbortSignal.abort()))).kind).toBe(
          'unknown',
        )
      })

      test('a response with status 500 has an unknown result', async () => {
        await server.fault(provider, { fault: 'server_error', times: 1 })
        expect((await catchTrouble(read(newId('attempt')))).kind).toBe('unknown')
      })

      test('a response with status 429 says when to call again', async () => {
        await server.fault(provider, { fault: 'throttle', seconds: 7, times: 1 })
        const trouble = await catchTrouble(read(newId('attempt')))
        expect([trouble.kind, trouble.retryAfterSeconds]).toEqual(['throttled', 7])
      })
    })

    test('a response survives a restart of the partner', async () => {
      const { order, opened, attemptId } = await open()
      await server.act(provider, attemptId, { action: 'pay' })
      const before = await read(attemptId)
      await server.restart()
      expect(await read(attemptId)).toEqual(before)
      const again = partner.openOrder(order, soon())
      if (traits.repeatsOpenings) expect(await again).toEqual(opened)
      else expect((await catchTrouble(again)).kind).toBe('unknown')
    })
  })
}
