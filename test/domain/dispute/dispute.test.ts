import { describe, expect, test } from '@jest/globals'
import { whyNotAnswerable } from '../../../src/domain/dispute/answerable.ts'
import type { ReportedDispute } from '../../../src/domain/dispute/dispute.ts'
import { decideDisputeChange, openDispute, withReport } from '../../../src/domain/dispute/dispute-change.ts'
import { splitCosts } from '../../../src/domain/dispute/dispute-cost.ts'
import { findMediaType } from '../../../src/domain/dispute/evidence.ts'
import type { Funds } from '../../../src/domain/payment/funds/funds.ts'

const AT = '2026-11-20T10:00:00.000Z'
const LATER = '2026-11-21T10:00:00.000Z'

const REPORT: ReportedDispute = {
  id: 'du_1',
  kind: 'chargeback',
  status: 'needs_response',
  reason: 'fraudulent',
  reasonText: null,
  amount: { minor: '10000', currency: 'EUR' },
  takenMinor: '10000',
  fee: null,
  openedAt: AT,
  evidenceDueAt: '2026-12-04T10:00:00.000Z',
  isEvidenceSubmitted: false,
  answeredAt: 'api',
}
const owner = { paymentId: 'pay_1', attemptId: 'att_1', merchantId: 'mer_1', livemode: false, provider: 'card_partner' }
const DISPUTE = openDispute(REPORT, { id: 'dp_1', owner, at: AT })

describe('A report of a dispute', () => {
  test.each<[string, Partial<ReportedDispute>, string | null]>([
    ['the same report', {}, null],
    ['another deadline', { evidenceDueAt: null }, 'dispute.updated'],
    ['a fee', { fee: { minor: '2000', currency: 'EUR' } }, 'dispute.updated'],
    ['submitted evidence', { status: 'under_review', isEvidenceSubmitted: true }, 'dispute.updated'],
    ['a decision', { status: 'won', takenMinor: '0' }, 'dispute.closed'],
  ])('%s leads to its event', (_what, changes, event) => {
    const change = decideDisputeChange(DISPUTE, withReport(DISPUTE, { ...REPORT, ...changes }, LATER), LATER)
    expect(change?.event ?? null).toBe(event)
  })

  test('the first report of evidence and of the end sets their times once', () => {
    const submitted = withReport(DISPUTE, { ...REPORT, status: 'under_review', isEvidenceSubmitted: true }, LATER)
    const lost = withReport(submitted, { ...REPORT, status: 'lost' }, '2026-12-20T10:00:00.000Z')
    const again = withReport(lost, { ...REPORT, status: 'lost' }, '2026-12-21T10:00:00.000Z')
    expect(again).toMatchObject({ evidenceSubmittedAt: LATER, closedAt: '2026-12-20T10:00:00.000Z' })
  })

  test('a decision that is taken back opens the dispute again', () => {
    const won = withReport(DISPUTE, { ...REPORT, status: 'won' }, LATER)
    const open = withReport(won, REPORT, LATER)
    expect([open.closedAt, decideDisputeChange(won, open, LATER)?.event]).toEqual([null, 'dispute.updated'])
  })
})

/** 100.00 EUR were sold for 108 USDC, of which 10 are held back, and the partner has `held` of them. */
function createFunds(held: bigint, changes: Partial<Funds> = {}): Funds {
  const sale = {
    number: 1,
    accountId: 'att_1',
    units: 10_000n,
    gross: 108_000_000n,
    fill: 108_000_000n,
    state: 'filled',
  } as const
  const account = {
    id: 'att_1',
    asset: 'EUR',
    held,
    outside: 0n,
    refunded: 0n,
    refunding: 0n,
    writtenOff: 0n,
  } as unknown as Funds['accounts'][number]
  return {
    accounts: [account],
    sales: [sale],
    taken: { ...sale, fee: 0n, reserve: 10_000_000n },
    payout: 'paid',
    paidOut: 98_000_000n,
    lost: 0n,
    released: 0n,
    ...changes,
  } as unknown as Funds
}

describe('The cost of disputes', () => {
  const of = (...taken: string[]) => taken.map((takenMinor) => ({ attemptId: 'att_1', takenMinor }))
  const costs = (funds: Funds, ...taken: string[]) =>
    splitCosts(funds, of(...taken)).map(({ fromReserveMicro: a, fromPlatformMicro: b }) => `${a} + ${b}`)

  test('the reserve pays first, and the platform bears the rest', () => {
    expect(costs(createFunds(0n), '10000')).toEqual(['10000000 + 98000000'])
  })

  test('a small dispute takes of the reserve alone', () => {
    expect(costs(createFunds(9_500n), '500')).toEqual(['5400000 + 0'])
  })

  test('several disputes share the reserve in their order, and take it once', () => {
    expect(costs(createFunds(4_000n), '500', '5500')).toEqual(['5400000 + 0', '4600000 + 54800000'])
  })

  test('a dispute that was won costs nothing', () => {
    expect(costs(createFunds(10_000n), '0')).toEqual(['0 + 0'])
  })

  test('a reserve that was released is not there any more', () => {
    expect(costs(createFunds(0n, { released: 10_000_000n }), '10000')).toEqual(['0 + 108000000'])
  })

  test('before the payout, and for another order, nothing is lost', () => {
    expect(costs(createFunds(0n, { payout: 'voiding' }), '10000')).toEqual(['0 + 0'])
    expect(splitCosts(createFunds(0n), [{ attemptId: 'att_2', takenMinor: '10000' }])).toEqual([
      { fromReserveMicro: '0', fromPlatformMicro: '0' },
    ])
  })
})

describe('An answer to a dispute', () => {
  test('is possible until the deadline, and not at it', () => {
    expect(whyNotAnswerable(DISPUTE, '2026-12-04T09:59:59.999Z')).toBeNull()
    expect(whyNotAnswerable(DISPUTE, '2026-12-04T10:00:00.000Z')).toContain('The deadline was')
    expect(whyNotAnswerable({ ...DISPUTE, evidenceDueAt: null }, '2030-01-01T00:00:00.000Z')).toBeNull()
  })

  test('is possible again after a refusal, and after evidence that is only stored', () => {
    const answer = { kind: 'evidence', submit: false, texts: [], files: [], refusal: null, createdAt: AT } as const
    for (const state of ['refused', 'sent'] as const)
      expect(whyNotAnswerable({ ...DISPUTE, answer: { ...answer, state } }, AT)).toBeNull()
    expect(whyNotAnswerable({ ...DISPUTE, answer: { ...answer, state: 'sending' } }, AT)).toContain('being sent')
  })
})

test.each([
  ['%PDF-1.7', 'application/pdf'],
  ['\u00ff\u00d8\u00ff\u00e0', 'image/jpeg'],
  ['\u0089PNG\r\n\u001a\n', 'image/png'],
  ['%PDF', null],
  ['<html>', null],
  ['', null],
])('the type of a file that begins with %j is %j', (start, type) => {
  expect(findMediaType(Buffer.from(start, 'latin1'))).toBe(type)
})
