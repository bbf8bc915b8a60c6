import { describe, expect, test } from '@jest/globals'
import { REFUND_FINALITY_MS, REFUND_STATUSES, type RefundStatus } from '../../../src/domain/refund/refund.ts'
import {
  decideRefundStep,
  type RefundSnapshot,
  toRefundSnapshot,
  whyRefundNotCancelable,
} from '../../../src/domain/refund/refund-step.ts'
import { refund } from './test-refund.ts'

const EXPIRES = 10_000_000
const MINUTE = 60_000

const snapshot = (fields: Partial<RefundSnapshot>): RefundSnapshot => ({
  id: 're_1',
  version: 1,
  status: 'awaiting_funds',
  isOpened: true,
  expiresAt: EXPIRES,
  askedAt: null,
  ...fields,
})
const step = (fields: Partial<RefundSnapshot>, now = 0, askedAt = 0) =>
  decideRefundStep(snapshot(fields), { now, askedAt })

describe('The next step of a refund', () => {
  test('makes the address first, and then waits for the USDC until it cannot be final in time', () => {
    expect(step({ isOpened: false })).toEqual({ do: 'open' })
    const end = EXPIRES + REFUND_FINALITY_MS
    expect(step({})).toEqual({ do: 'wait', until: end })
    expect(step({}, end - 1)).toMatchObject({ do: 'wait' })
    expect(step({}, end)).toEqual({ do: 'expire' })
  })

  test('expires also without an address, which a deployment without a seed never makes', () => {
    expect(step({ isOpened: false }, EXPIRES + REFUND_FINALITY_MS)).toEqual({ do: 'expire' })
  })

  test('asks the partner at once when the USDC is there, whatever the time', () => {
    expect(step({ status: 'funded' }, EXPIRES * 2)).toEqual({ do: 'ask' })
  })

  test('asks the partner again after 1, 5, 15 and 60 minutes and then every six hours', () => {
    const asked = (now: number, askedAt: number) => step({ status: 'pending', askedAt: 1000 }, now, askedAt)
    expect(asked(2000, 1500)).toEqual({ do: 'wait', until: 1000 + MINUTE })
    expect(asked(1000 + MINUTE, 1500)).toEqual({ do: 'ask' })
    expect(asked(1000 + MINUTE, 1000 + MINUTE)).toMatchObject({ until: 1000 + 5 * MINUTE })
    expect(asked(1000 + 60 * MINUTE, 1000 + 60 * MINUTE)).toMatchObject({ until: 1000 + 360 * MINUTE })
  })

  test('asks at once for a refund of the payment’s own money that was not asked for', () => {
    expect(step({ status: 'pending', isOpened: false })).toEqual({ do: 'ask' })
    expect(step({ status: 'pending', isOpened: false }, 2000, 1500)).toEqual({ do: 'ask' })
  })

  test('asks at once in a run that has taken over, or whose order changed', () => {
    expect(step({ status: 'pending', askedAt: 1000 }, 2000, 0)).toEqual({ do: 'ask' })
  })

  test.each(['succeeded', 'failed', 'canceled', 'expired'] as const)('is over once it is %s', (status) => {
    expect(step({ status })).toEqual({ do: 'done' })
  })

  test('can be canceled only before its USDC is there, and canceling again changes nothing', () => {
    const cancelable = (status: RefundStatus): boolean => whyRefundNotCancelable(status) === null
    expect(REFUND_STATUSES.filter(cancelable)).toEqual(['awaiting_funds', 'canceled'])
  })
})

test('the workflow knows a refund by its state and its three moments', () => {
  const [expiresAt, askedAt] = ['2026-11-28T11:00:00.000Z', '2026-11-28T10:30:00.000Z']
  expect(toRefundSnapshot(refund({ status: 'pending', expiresAt, askedAt }))).toEqual({
    id: 're_1',
    version: 3,
    status: 'pending',
    isOpened: true,
    expiresAt: Date.UTC(2026, 10, 28, 11),
    askedAt: Date.UTC(2026, 10, 28, 10, 30),
  })
  expect(toRefundSnapshot(refund({ openedAt: null }))).toMatchObject({ isOpened: false, askedAt: null })
})

test.each([
  ['funded', 'its USDC has arrived'],
  ['pending', 'the money is going back to the buyer'],
  ['succeeded', 'the refund has succeeded'],
  ['failed', 'the refund has failed'],
  ['expired', 'the refund has expired'],
] as const)('a refund that is %s cannot be canceled, because %s', (status, why) => {
  expect(whyRefundNotCancelable(status)).toBe(why)
})
