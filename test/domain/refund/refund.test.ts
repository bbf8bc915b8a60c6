import { describe, expect, test } from '@jest/globals'
import {
  canMoveRefund,
  FUNDING_REFUSALS,
  isRefundOver,
  isWithPartner,
  REFUND_FAILURES,
  REFUND_FINALITY_MS,
  REFUND_FUNDING_MS,
  REFUND_STATUSES,
  REFUND_TRANSITIONS,
  readFundingRefusal,
  treasuryShare,
} from '../../../src/domain/refund/refund.ts'
import { refund } from './test-refund.ts'

test('a refund moves only as the list of its moves says', () => {
  const moves = REFUND_STATUSES.flatMap((from) =>
    REFUND_STATUSES.filter((to) => canMoveRefund(from, to)).map((to) => `${from} → ${to}`),
  )
  expect(moves).toEqual([
    'awaiting_funds → funded',
    'awaiting_funds → failed',
    'awaiting_funds → canceled',
    'awaiting_funds → expired',
    'funded → pending',
    'funded → failed',
    'pending → succeeded',
    'pending → failed',
  ])
})

test('a refund is over at four states, and may be with the partner at two', () => {
  expect(REFUND_STATUSES.filter(isRefundOver)).toEqual(['succeeded', 'failed', 'canceled', 'expired'])
  expect(REFUND_STATUSES.filter((status) => isWithPartner({ status, fundFrom: 'wallet' }))).toEqual([
    'funded',
    'pending',
  ])
  expect(REFUND_STATUSES.filter((status) => isWithPartner({ status, fundFrom: 'payment' }))).toEqual([])
})

test('the treasury gets what a succeeded refund required, and nothing of any other', () => {
  const shares = REFUND_STATUSES.map((status) => treasuryShare(refund({ status })))
  expect(shares).toEqual(['0', '0', '0', '21680000', '0', '0', '0'])
})

test('a merchant has an hour to pay for a refund, and the chain five more minutes to make that final', () => {
  expect([REFUND_FUNDING_MS, REFUND_FINALITY_MS]).toEqual([3_600_000, 300_000])
})

describe('A refusal of the token', () => {
  test.each([
    ['ERC20: transfer amount exceeds balance', 'insufficient_balance'],
    ['FiatTokenV2: invalid signature', 'invalid_signature'],
    ['FiatTokenV2: authorization is expired', 'expired'],
    ['FiatTokenV2: authorization is used or canceled', 'nonce_used'],
    ['Blacklistable: account is blacklisted', 'blocked'],
    ['Pausable: paused', 'paused'],
    ['execution reverted', 'other'],
    ['', 'other'],
  ])('"%s" is read as %s', (reason, refusal) => {
    expect(readFundingRefusal(reason)).toBe(refusal)
  })
})

test('each move, failure and refusal has its own explanation', () => {
  const moves = REFUND_TRANSITIONS.map(([, , why]) => why)
  const sentences = [...Object.values(REFUND_FAILURES), ...Object.values(FUNDING_REFUSALS)]
  const isExplanation = (text: string): boolean => text.split(' ').length >= 4
  expect([...moves, ...sentences].filter((text) => !isExplanation(text))).toEqual([])
  expect(sentences.filter((text) => !/^[A-Z].*\.$/.test(text))).toEqual([])
  expect(new Set([...moves, ...sentences]).size).toBe(moves.length + sentences.length)
  expect(Object.keys(REFUND_FAILURES)).toHaveLength(6)
  expect(Object.keys(FUNDING_REFUSALS)).toHaveLength(7)
})
