import { describe, expect, test } from '@jest/globals'
import {
  canMoveRefund,
  isRefundOver,
  REFUND_STATUSES,
  type Refund,
  treasuryShare,
} from '../../../src/domain/refund/refund.ts'
import { countRefunds, decideRefundChange } from '../../../src/domain/refund/refund-change.ts'
import { renderRefund } from '../../../src/domain/refund/refund-object.ts'

const AT = '2026-11-28T10:00:00.000Z'
const PLACE = { address: `0x${'a'.repeat(40)}`, nonce: `0x${'1'.repeat(64)}`, tokenName: 'USD Coin' } as const

const refund = (fields: Partial<Refund> = {}): Refund => ({
  id: 're_1',
  paymentId: 'pay_1',
  attemptId: 'att_1',
  merchantId: 'mer_1',
  livemode: false,
  number: 1,
  amount: { minor: '2000', currency: 'EUR' },
  reason: null,
  metadata: null,
  status: 'awaiting_funds',
  statusReason: null,
  rate: '1.084',
  rateSource: 'converter',
  requiredMicro: '21680000',
  receivedMicro: '0',
  chainId: 137,
  token: `0x${'c'.repeat(40)}`,
  wallet: `0x${'d'.repeat(40)}`,
  place: PLACE,
  signedAt: null,
  fundingRefusal: null,
  fundingTxHash: null,
  returnedTxHash: null,
  partnerKey: null,
  createdAt: AT,
  updatedAt: AT,
  expiresAt: AT,
  fundedAt: null,
  askedAt: null,
  succeededAt: null,
  failedAt: null,
  version: 3,
  ...fields,
})

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
    expect(canMoveRefund('pending', 'canceled')).toBe(false)
    expect(canMoveRefund('funded', 'expired')).toBe(false)
  })

  test('gives the treasury what a succeeded refund required, and nothing of any other', () => {
    const shares = REFUND_STATUSES.map((status) => treasuryShare(refund({ status })))
    expect(shares.filter((share) => share !== '0')).toEqual(['21680000'])
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

test('a refund shows its link for wallets only when it has an address', () => {
  expect(renderRefund(refund()).funding.eip681).toBe(
    `ethereum:0x${'c'.repeat(40)}@137/transfer?address=0x${'a'.repeat(40)}&uint256=21680000`,
  )
  expect(renderRefund(refund({ place: null })).funding).toMatchObject({ address: null, eip681: null })
})
