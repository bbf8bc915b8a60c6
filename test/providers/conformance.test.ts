import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { PROVIDER_NAMES } from '../../src/domain/methods.ts'
import { newId } from '../../src/ids.ts'
import { PartnerError, type PaymentPartner } from '../../src/providers/provider.ts'
import { ACCOUNT, PATHS, type SandboxServer, soon, startSandboxServer } from './sandbox-server.ts'

let server: SandboxServer
beforeAll(async () => {
  server = await startSandboxServer()
})
afterAll(() => server.close())

describe.each(PROVIDER_NAMES)('%s', (provider) => {
  let partner: PaymentPartner
  beforeEach(async () => {
    partner = server.partners()[provider]
    await fetch(`${server.url}${PATHS[provider]}/sandbox/faults`, { method: 'DELETE' })
    await server.callbacksOf(provider)
  })

  const open = async (changes = {}) => {
    const order = server.newOrder(provider, changes)
    const opened = await partner.openOrder(order, soon())
    if (opened.kind !== 'opened') throw new Error('expected an opened order')
    return { order, opened, attemptId: order.attemptId }
  }
  const read = (attemptId: string) => partner.readOrder({ attemptId }, soon())
  const troubleOf = async (call: Promise<unknown>): Promise<PartnerError> => {
    const error = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof PartnerError)) throw new Error(`expected a PartnerError, got ${String(error)}`)
    return error
  }

  test('an opened order is read back as it was asked for', async () => {
    const { order, opened } = await open()
    expect(opened.redirectUrl).toMatch(new RegExp(`^${server.url}${PATHS[provider]}/pay/`))
    expect(await read(order.attemptId)).toEqual({
      attemptId: order.attemptId,
      reference: opened.reference,
      account: ACCOUNT,
      status: 'open',
      amount: order.amount,
      received: null,
      failureCode: null,
    })
  })

  test('the same key twice is the same order', async () => {
    const { order, opened } = await open()
    expect(await partner.openOrder(order, soon())).toEqual(opened)
  })

  test('the same key with another amount is refused, never a second order', async () => {
    const { order } = await open()
    const other = { ...order, amount: { ...order.amount, minor: '999' } }
    expect((await troubleOf(partner.openOrder(other, soon()))).kind).toBe('unknown')
    expect((await read(order.attemptId))?.amount).toEqual(order.amount)
  })

  test('an attempt that the partner has never heard of reads as null', async () => {
    expect(await read(newId('attempt'))).toBeNull()
  })

  test('a paid order says what was received', async () => {
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

  test('every state of the partner is one of ours', async () => {
    const after = async (...acts: Record<string, unknown>[]) => {
      const { attemptId } = await open()
      for (const act of acts) expect((await server.act(provider, attemptId, act)).status).toBe(200)
      const found = await read(attemptId)
      return [found?.status, found?.failureCode]
    }
    expect(await after({ action: 'require_verification' })).toEqual(['verification_required', null])
    expect(await after({ action: 'pay', buyer: newId('request') })).toEqual(['verification_required', null])
    expect(await after({ action: 'require_verification' }, { action: 'verify' })).toEqual(['paid', null])
    expect(await after({ action: 'require_verification' }, { action: 'fail_verification' })).toEqual([
      'declined',
      'verification_failed',
    ])
    expect(await after({ action: 'pay', seconds: 60 })).toEqual(['confirming', null])
    expect(await after({ action: 'pay', seconds: 60 }, { action: 'confirm' })).toEqual(['paid', null])
    expect(await after({ action: 'hold' })).toEqual(['on_hold', null])
    expect(await after({ action: 'hold' }, { action: 'release' })).toEqual(['paid', null])
    expect(await after({ action: 'pay' }, { action: 'reverse' })).toEqual(['declined', 'reversed'])
    expect(await after({ action: 'expire' })).toEqual(['expired', null])
    for (const failureCode of ['declined', 'insufficient_funds', 'partner_unavailable'])
      expect(await after({ action: 'decline', failureCode })).toEqual(['declined', failureCode])
    const left = await after({ action: 'cancel' })
    expect(left).toEqual(provider === 'local_partner' ? ['declined', 'abandoned'] : ['canceled', null])
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
    const { attemptId } = await open()
    await server.act(provider, attemptId, { action: 'require_verification' })
    server.advance(3600 + 86_000)
    expect((await read(attemptId))?.status).toBe('verification_required')
    server.advance(500)
    expect((await read(attemptId))?.status).toBe('expired')
  })

  test('a decline at the opening is an answer, and stays the same', async () => {
    await server.fault(provider, { fault: 'decline_opening', times: 1, failureCode: 'insufficient_funds' })
    const order = server.newOrder(provider)
    const answer = { kind: 'declined', failureCode: 'insufficient_funds' }
    expect(await partner.openOrder(order, soon())).toEqual(answer)
    expect(await partner.openOrder(order, soon())).toEqual(answer)
  })

  test.each(['underpay', 'overpay'])('%s: what arrived is told, not what was asked', async (fault) => {
    await server.fault(provider, { fault, minor: '123456', times: 1 })
    const { order, attemptId } = await open()
    await server.act(provider, attemptId, { action: 'pay' })
    expect(await read(attemptId)).toMatchObject({
      status: 'paid',
      amount: order.amount,
      received: { minor: '123456', currency: order.amount.currency },
    })
  })

  test('late money arrives after the order was closed', async () => {
    const { attemptId } = await open()
    await server.act(provider, attemptId, { action: 'cancel' })
    expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(409)
    await server.fault(provider, { fault: 'late_money', attemptId, times: 1 })
    expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(200)
    expect((await read(attemptId))?.status).toBe('paid')
  })

  test('pay twice: an earlier order of the same checkout is paid too', async () => {
    const first = await open()
    await server.act(provider, first.attemptId, { action: 'cancel' })
    const second = await open({ returnUrl: first.order.returnUrl })
    await server.fault(provider, { fault: 'pay_twice', attemptId: second.attemptId, times: 1 })
    await server.act(provider, second.attemptId, { action: 'pay' })
    expect((await read(first.attemptId))?.status).toBe('paid')
    expect((await read(second.attemptId))?.status).toBe('paid')
  })

  describe('cancel', () => {
    test('is absent where the partner cannot do it', () => {
      expect(partner.cancelOrder === undefined).toBe(provider === 'local_partner')
    })

    test('closes an open order, and answers a paid one as it is', async () => {
      if (partner.cancelOrder === undefined) return
      const { attemptId } = await open()
      expect((await partner.cancelOrder({ attemptId }, soon()))?.status).toBe('canceled')
      expect((await partner.cancelOrder({ attemptId }, soon()))?.status).toBe('canceled')
      expect((await read(attemptId))?.status).toBe('canceled')
      expect((await server.act(provider, attemptId, { action: 'pay' })).status).toBe(409)
      const paid = await open()
      await server.act(provider, paid.attemptId, { action: 'pay' })
      expect((await partner.cancelOrder({ attemptId: paid.attemptId }, soon()))?.status).toBe('paid')
      expect(await partner.cancelOrder({ attemptId: newId('attempt') }, soon())).toBeNull()
    })
  })

  describe('refund', () => {
    const refund = (attemptId: string, key = `${attemptId}:refund`) => {
      if (partner.refundOrder === undefined) throw new Error('expected the ability')
      return partner.refundOrder({ attemptId, key }, soon())
    }

    test('gives the money back once for a key', async () => {
      const { order, attemptId } = await open()
      await server.act(provider, attemptId, { action: 'pay' })
      expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
      expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
      expect(await read(attemptId)).toMatchObject({ status: 'refunded', received: order.amount })
      expect((await refund(attemptId, 'another:refund')).kind).toBe('refused')
    })

    test('is refused where nothing was received, and for an unknown order', async () => {
      const { attemptId } = await open()
      expect((await refund(attemptId)).kind).toBe('refused')
      const nobody = newId('attempt')
      const outcome = await refund(nobody).catch((error: unknown) => error)
      expect(outcome instanceof PartnerError || (outcome as { kind: string }).kind === 'refused').toBe(true)
    })

    test('can be refused, and can be asked for again with the same key', async () => {
      const { attemptId } = await open()
      await server.act(provider, attemptId, { action: 'pay' })
      await server.fault(provider, { fault: 'refund_refused', times: 1 })
      expect(await refund(attemptId)).toEqual({ kind: 'refused', reason: 'the balance is too low' })
      expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
    })

    test('can take its time', async () => {
      const { attemptId } = await open()
      await server.act(provider, attemptId, { action: 'pay' })
      await server.fault(provider, { fault: 'refund_pending', seconds: 600, times: 1 })
      expect(await refund(attemptId)).toEqual({ kind: 'pending' })
      expect((await refund(attemptId, 'another:refund')).kind).toBe('refused')
      expect((await read(attemptId))?.status).toBe('paid')
      server.advance(601)
      expect((await read(attemptId))?.status).toBe('refunded')
      expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
    })

    test('a timeout after the effect does not refund twice', async () => {
      const { attemptId } = await open()
      await server.act(provider, attemptId, { action: 'pay' })
      await server.fault(provider, { fault: 'timeout_after_effect', operation: 'refund', times: 1 })
      expect((await troubleOf(refund(attemptId))).kind).toBe('unknown')
      expect(await refund(attemptId)).toEqual({ kind: 'refunded' })
    })
  })

  describe('trouble', () => {
    test('a timeout after the effect is unknown, and asking again finds the same order', async () => {
      await server.fault(provider, { fault: 'timeout_after_effect', operation: 'open', times: 1 })
      const order = server.newOrder(provider)
      expect((await troubleOf(partner.openOrder(order, soon()))).kind).toBe('unknown')
      const found = await read(order.attemptId)
      expect(found?.status).toBe('open')
      expect(await partner.openOrder(order, soon())).toMatchObject({ kind: 'opened', reference: found?.reference })
    })

    test('a timeout before the effect is unknown, and there is no order', async () => {
      await server.fault(provider, { fault: 'timeout_before_effect', operation: 'open', times: 1 })
      const order = server.newOrder(provider)
      expect((await troubleOf(partner.openOrder(order, soon()))).kind).toBe('unknown')
      expect(await read(order.attemptId)).toBeNull()
    })

    test('the abort signal ends a call that gets no answer', async () => {
      await server.fault(provider, { fault: 'timeout_before_effect', mode: 'hang', operation: 'read', times: 1 })
      const controller = new AbortController()
      const call = troubleOf(partner.readOrder({ attemptId: newId('attempt') }, controller.signal))
      controller.abort()
      expect((await call).kind).toBe('unknown')
      expect((await troubleOf(partner.openOrder(server.newOrder(provider), AbortSignal.abort()))).kind).toBe('unknown')
    })

    test('500 is unknown', async () => {
      await server.fault(provider, { fault: 'server_error', times: 1 })
      expect((await troubleOf(read(newId('attempt')))).kind).toBe('unknown')
    })

    test('429 says when to come back', async () => {
      await server.fault(provider, { fault: 'throttle', seconds: 7, times: 1 })
      const trouble = await troubleOf(read(newId('attempt')))
      expect([trouble.kind, trouble.retryAfterSeconds]).toEqual(['throttled', 7])
    })
  })

  test('what was answered survives a restart of the partner', async () => {
    const { order, opened, attemptId } = await open()
    await server.act(provider, attemptId, { action: 'pay' })
    const before = await read(attemptId)
    await server.restart()
    expect(await read(attemptId)).toEqual(before)
    expect(await partner.openOrder(order, soon())).toEqual(opened)
  })
})
