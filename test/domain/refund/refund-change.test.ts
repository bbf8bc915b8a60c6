import { describe, expect, test } from '@jest/globals'
import { isRefundOver, REFUND_STATUSES, type Refund } from '../../../src/domain/refund/refund.ts'
import { countRefunds, decideRefundChange } from '../../../src/domain/refund/refund-change.ts'
import { AT, PLACE, refund } from './test-refund.ts'

const change = (before: Refund, fields: Partial<Refund>) => decideRefundChange(before, { ...before, ...fields }, AT)

describe('A change of a refund', () => {
  test('is none if nothing has changed', () => {
    expect(change(refund(), {})).toBeNull()
  })

  test('announces the refund when it has its address', () => {
    const opened = change(refund({ place: null }), { place: PLACE })
    expect(opened).toMatchObject({ events: ['refund.created'], isEnding: false, after: { version: 4 } })
    expect(opened?.notes.map(({ kind }) => kind)).toEqual(['refund.created'])
  })

  test.each([
    ['awaiting_funds', 'funded', ['refund.funded'], 'fundedAt'],
    ['funded', 'pending', [], 'askedAt'],
    ['pending', 'succeeded', ['refund.succeeded'], 'succeededAt'],
    ['pending', 'failed', ['refund.failed'], 'failedAt'],
  ] as const)('from %s to %s has its event and its time', (from, to, events, time) => {
    const moved = change(refund({ status: from }), { status: to })
    expect(moved?.events).toEqual(events)
    expect(moved?.after[time]).toBe(AT)
    expect(moved?.isEnding).toBe(to === 'succeeded' || to === 'failed')
  })

  test('books only a success, as USDC that the platform took', () => {
    expect(change(refund({ status: 'pending' }), { status: 'succeeded' })?.bookings).toMatchObject([
      {
        kind: 'refund_taken',
        reference: 're_1',
        lines: [
          { account: 'suspense', amount: '21680000' },
          { account: 'exchange', amount: '-21680000' },
        ],
      },
    ])
    expect(change(refund({ status: 'pending' }), { status: 'failed' })?.bookings).toEqual([])
  })

  test('never leaves an end, and never goes back', () => {
    for (const from of REFUND_STATUSES.filter(isRefundOver))
      for (const to of REFUND_STATUSES)
        if (from !== to) expect(() => change(refund({ status: from }), { status: to })).toThrow('cannot change')
  })
})

test.each([
  ['awaiting_funds', 'funded', { refunded: '500', refunding: '4100' }],
  ['funded', 'pending', { refunded: '500', refunding: '2100' }],
  ['pending', 'succeeded', { refunded: '2500', refunding: '100' }],
  ['pending', 'failed', { refunded: '500', refunding: '100' }],
  ['funded', 'failed', { refunded: '500', refunding: '100' }],
  ['awaiting_funds', 'expired', { refunded: '500', refunding: '2100' }],
] as const)('an order counts a refund that moves from %s to %s', (from, to, counted) => {
  const [before, after] = [refund({ status: from }), refund({ status: to })]
  expect(countRefunds({ refunded: '500', refunding: '2100' }, { before, after })).toEqual(counted)
})
