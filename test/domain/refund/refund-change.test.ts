import { describe, expect, test } from '@jest/globals'
import { isRefundOver, REFUND_STATUSES, type Refund } from '../../../src/domain/refund/refund.ts'
import { countRefunds, decideRefundChange } from '../../../src/domain/refund/refund-change.ts'
import { createNote } from '../../../src/domain/timeline.ts'
import { AT, PLACE, refund } from './test-refund.ts'

const LATER = '2026-11-28T11:30:00.000Z'

const change = (before: Refund, fields: Partial<Refund>) => decideRefundChange(before, { ...before, ...fields }, AT)

describe('A change of a refund', () => {
  test('is none if nothing has changed', () => {
    expect(change(refund(), {})).toBeNull()
  })

  test('announces the refund when it is opened', () => {
    const opened = change(refund({ place: null, openedAt: null }), { place: PLACE, openedAt: AT })
    expect(opened).toMatchObject({ events: ['refund.created'], isEnding: false, after: { version: 4 } })
    expect(opened?.notes.map(({ kind }) => kind)).toEqual(['refund.created'])
  })

  test('announces only the end of a refund that ends before it has an address', () => {
    const canceled = change(refund({ place: null }), { status: 'canceled' })
    expect(canceled?.events).toEqual(['refund.canceled'])
    expect(canceled?.notes.map(({ kind }) => kind)).toEqual(['refund.canceled'])
  })

  test.each([
    ['awaiting_funds', 'funded', ['refund.funded'], 'fundedAt'],
    ['funded', 'pending', [], 'askedAt'],
    ['pending', 'succeeded', ['refund.succeeded'], 'succeededAt'],
    ['pending', 'failed', ['refund.failed'], 'failedAt'],
    ['awaiting_funds', 'canceled', ['refund.canceled'], 'updatedAt'],
    ['awaiting_funds', 'expired', ['refund.expired'], 'updatedAt'],
  ] as const)('from %s to %s has its event and its time', (from, to, events, time) => {
    const moved = change(refund({ status: from }), { status: to })
    expect(moved?.events).toEqual(events)
    expect(moved?.after[time]).toBe(AT)
    expect(moved?.isEnding).toBe(isRefundOver(to))
  })

  test.each([
    ['awaiting_funds', 'funded', 'refund.funded'],
    ['funded', 'pending', 'refund.asked'],
    ['pending', 'succeeded', 'refund.succeeded'],
    ['pending', 'failed', 'refund.failed'],
    ['awaiting_funds', 'canceled', 'refund.canceled'],
    ['awaiting_funds', 'expired', 'refund.expired'],
  ] as const)('a move from %s to %s is noted on the payment, with the money', (from, to, kind) => {
    const notes = change(refund({ status: from, receivedMicro: '7' }), { status: to })?.notes
    const data = { refund: 're_1', asset: 'EUR', units: '2000', required_micro: '21680000', received_micro: '7' }
    expect(notes).toEqual([createNote(kind, data)])
  })

  test('a failure is noted with its reason', () => {
    const failed = change(refund({ status: 'pending' }), { status: 'failed', statusReason: 'refused' })
    expect(failed?.notes[0]?.data).toMatchObject({ why: 'refused' })
  })

  test.each([
    ['awaiting_funds', 'canceled'],
    ['awaiting_funds', 'expired'],
  ] as const)('a move from %s to %s ends the refund, books nothing and sets no time', (from, to) => {
    const ended = change(refund({ status: from }), { status: to })
    expect(ended).toMatchObject({ events: [`refund.${to}`], bookings: [], isEnding: true })
    expect(ended?.after).toEqual({ ...refund(), status: to, updatedAt: AT, version: 4 })
  })

  test('a change that is no move has neither an event nor a note nor a new time', () => {
    const signed = change(refund(), { signedAt: LATER })
    expect(signed).toMatchObject({ events: [], notes: [], bookings: [], isEnding: false })
    expect(signed?.after).toEqual({ ...refund(), signedAt: LATER, updatedAt: AT, version: 4 })
    const returned = change(refund({ status: 'succeeded', succeededAt: LATER }), { returnedTxHash: '0x1' })
    expect(returned).toMatchObject({ events: [], notes: [], bookings: [], isEnding: false })
    expect(returned?.after.succeededAt).toBe(LATER)
  })

  test('announces a refund of the payment’s own money with the decision, books nothing and leaves the order to the give-back', () => {
    const own = refund({ fundFrom: 'payment', status: 'pending', place: null, requiredMicro: '0' })
    const decided = change(own, { partnerKey: 'att_1:refund:1', askedAt: AT })
    expect([decided?.events, decided?.notes]).toEqual([['refund.created'], []])
    const known = { ...own, partnerKey: 'att_1:refund:1', askedAt: AT }
    expect(change(known, { status: 'failed', partnerKey: null })?.events).toEqual(['refund.failed'])
    const done = change(own, { status: 'succeeded' })
    expect([done?.events, done?.bookings]).toEqual([['refund.succeeded'], []])
    const counted = { refunded: '0', refunding: '0' }
    expect(countRefunds(counted, { before: own, after: { ...own, status: 'succeeded' } })).toEqual(counted)
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
        if (from !== to)
          expect(() => change(refund({ status: from }), { status: to })).toThrow(
            `re_1 cannot change from ${from} to ${to}`,
          )
  })
})

test.each([
  ['awaiting_funds', 'funded', { refunded: '500', refunding: '4100' }],
  ['funded', 'pending', { refunded: '500', refunding: '2100' }],
  ['pending', 'succeeded', { refunded: '2500', refunding: '100' }],
  ['pending', 'failed', { refunded: '500', refunding: '100' }],
  ['funded', 'failed', { refunded: '500', refunding: '100' }],
  ['awaiting_funds', 'expired', { refunded: '500', refunding: '2100' }],
  ['succeeded', 'succeeded', { refunded: '500', refunding: '2100' }],
] as const)('an order counts a refund that moves from %s to %s', (from, to, counted) => {
  const [before, after] = [refund({ status: from }), refund({ status: to })]
  expect(countRefunds({ refunded: '500', refunding: '2100' }, { before, after })).toEqual(counted)
})
