import { describe, expect, test } from '@jest/globals'
import { type KnownPayment, nothing } from '../../../../src/domain/payment/money/effect.ts'
import type { Part } from '../../../../src/domain/payment/money/parts.ts'
import { isClosed, PAYMENT_STATUSES } from '../../../../src/domain/payment/payment.ts'
import { deposit, effect, part } from './order-story.ts'

/** Anybody sends less than the smallest unit of the price to the address of a payment: it costs a part of a cent. */

const whole = part('5000', { key: 'a', asset: 'USDC', units: '60000000' })
const paid: Partial<KnownPayment> = { status: 'succeeded', paidAttemptId: 'att_1', converted: true, parts: [whole] }
const short = (parts: readonly Part[]) => parts.map(({ units, kind, state }) => `${units} ${kind} ${state}`)

describe('what nobody is owed', () => {
  test('is ours at once where the payment has its money: no second payment is marked, and no person has to look', () => {
    const told = effect(
      paid,
      { status: 'confirmed' },
      deposit('paid', '5000', ['a', '60000000'], ['b', '1'], ['c', '7']),
    )
    expect(short(told.parts)).toEqual(['1 receipt surplus', '7 receipt surplus', '-8 kept surplus'])
    expect({ ...told, parts: [] }).toEqual(nothing('confirmed'))
  })

  test('… and where it does not listen any more', () => {
    const over = { status: 'expired', listenEnded: true } as const
    const told = effect(over, { status: 'open' }, deposit('open', '0', ['b', '9']))
    expect(short(told.parts)).toEqual(['9 receipt late', '-9 kept late'])
    expect({ ...told, parts: [] }).toEqual(nothing('open'))
  })

  test('has a place of its own each time it comes', () => {
    const first = effect(paid, { status: 'confirmed' }, deposit('paid', '5000', ['a', '60000000'], ['b', '1'])).parts
    const known = { ...paid, parts: [whole, ...first] }
    const all: [string, string][] = [
      ['a', '60000000'],
      ['b', '1'],
    ]
    expect(effect(known, { status: 'confirmed' }, deposit('paid', '5000', ...all)).parts).toEqual([])
    const more: [string, string][] = [...all, ['c', '2'], ['d', '3'], ['e', '4']]
    const second = effect(known, { status: 'confirmed' }, deposit('paid', '5000', ...more)).parts
    expect(short(second)).toEqual(['2 receipt surplus', '3 receipt surplus', '4 receipt surplus', '-9 kept surplus'])
    expect(new Set([...first, ...second].map(({ key }) => key)).size).toBe(6)
  })

  test('is not what comes with more, or is worth a unit of the price', () => {
    const of = (...more: [string, string][]) =>
      effect(paid, { status: 'confirmed' }, deposit('paid', '5001', ['a', '60000000'], ...more))
    expect(short(of(['b', '1'], ['c', '12000']).parts)).toEqual(['1 receipt surplus', '12000 receipt surplus'])
    expect(of(['b', '12000']).exception).toBe('duplicate_payment')
    expect(short(of(['b', '11999']).parts)).toEqual(['11999 receipt surplus', '-11999 kept surplus'])
  })

  test.each(PAYMENT_STATUSES.filter(isClosed))(
    'opens a payment that is over and has no money as little as any: %s',
    (status) => {
      const told = effect({ status }, {}, deposit('open', '0', ['b', '9']))
      expect(told).toMatchObject({ moves: [], money: 'none', park: null, exception: undefined, attempt: 'open' })
      expect(effect({ status: 'pending' }, {}, deposit('open', '0', ['b', '9']))).toMatchObject({
        money: 'none',
        moves: [],
      })
    },
  )

  // a hundredth of a forint is 0.00003 USDC: for that, and the gas, it was paid twice, and work for an operator
  test('is less than 0.01 USDC, too, however many units of the price that is', () => {
    const cheap = {
      ...paid,
      parts: [part('2000000', { key: 'a', asset: 'USDC', units: '60000000' })],
    }
    const asked = { minor: '2000000', currency: 'HUF' } as const
    const inForint = (...more: [string, string][]) => {
      const order = { ...deposit('paid', '2000000', ['a', '60000000'], ...more), amount: asked }
      return effect(cheap, { status: 'confirmed', asked }, { ...order, received: { ...asked, minor: '2000300' } })
    }
    const told = inForint(['b', '9999'])
    expect(told.parts.map(({ chargeMinor }) => chargeMinor)).toEqual(['333', '-333'])
    expect({ ...told, parts: [] }).toEqual(nothing('confirmed'))
    expect(inForint(['b', '10000']).exception).toBe('duplicate_payment')
  })

  test('… and opens no payment that is over, though its partner calls it paid', () => {
    const asked = { minor: '2000000', currency: 'HUF' } as const
    const order = { ...deposit('paid', '333', ['b', '9999']), amount: asked, received: { ...asked, minor: '333' } }
    const told = effect({ status: 'expired' }, { asked }, order)
    expect(short(told.parts)).toEqual(['9999 receipt counted', '-9999 kept counted'])
    expect({ ...told, parts: [] }).toEqual(nothing('open'))
    const isWaited = effect({ status: 'pending' }, { asked }, order)
    expect(isWaited).toMatchObject({ attempt: 'underpaid', money: 'take' })
  })
})
