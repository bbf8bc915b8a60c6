import { describe, expect, test } from '@jest/globals'
import { FAILURE_CODES, ORDER_STATUSES } from '../../../src/domain/payment/partner.ts'
import {
  ATTEMPT_STATUSES,
  canMove,
  canStillBePaid,
  findPath,
  getReport,
  isClosed,
  isOpen,
  PAYMENT_STATUSES,
  type PaymentStatus,
  TRANSITIONS,
} from '../../../src/domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import {
  after,
  attempt,
  brings,
  computed,
  decides,
  fills,
  handed,
  handsOver,
  newState,
  opened,
  pays,
  paysOut,
  type Step,
  says,
  sets,
  sold,
  usdcAttempt,
} from './payment-story.ts'

type Move = { [T in (typeof TRANSITIONS)[number] as `${T[0]} to ${T[1]}`]: T }
type Story = readonly [before: PaymentWithAttempts, ...steps: readonly Step[]]

const pending = opened(attempt())
const addsAttempt: Step = (state) => computed({ ...state, attempts: [...state.attempts, attempt()] })
const confirming = after(pending, says({ status: 'confirming' }))
const closed = (as: 'expired' | 'canceled' | 'failed') => after(pending, sets({ closedAs: as }))
const paidAfter = (as: 'expired' | 'canceled' | 'failed') => after(closed(as), pays())
const gone = says({ status: 'canceled' })
const withheld = after(pending, says({ status: 'on_hold', received: '10000' }))
const stopped = after(handed, sets({ payout: 'stopped' }))
const partPaid = after(opened(usdcAttempt()), brings('open', '50000000'))
const givenBack = after(handed, sets({ payout: 'void' }), says({ status: 'refunded' }))

/** The cause of each move of the table. */
const STORIES: { readonly [move in keyof Move]: Story } = {
  'created to pending': [newState, addsAttempt],
  'created to expired': [newState, sets({ closedAs: 'expired' })],
  'created to canceled': [newState, sets({ closedAs: 'canceled' })],
  'pending to processing': [pending, pays()],
  'pending to expired': [pending, sets({ closedAs: 'expired' })],
  'pending to canceled': [pending, sets({ closedAs: 'canceled' })],
  'pending to failed': [pending, sets({ closedAs: 'failed' })],
  'pending to under_review': [pending, says({ status: 'on_hold' })],
  'pending to refunded': [partPaid, decides({ say: 'give_back', accountId: 'att_1', outside: true })],
  'processing to settling': [sold, handsOver],
  'processing to under_review': [after(pending, pays()), fills(100_000_000n)],
  'processing to pending': [confirming, gone],
  'processing to expired': [paidAfter('expired'), gone],
  'processing to canceled': [paidAfter('canceled'), gone],
  'processing to failed': [after(paidAfter('failed'), decides({ say: 'settle' })), gone],
  'processing to refunded': [after(pending, pays()), says({ status: 'refunded' })],
  'under_review to processing': [withheld, pays()],
  'under_review to pending': [withheld, gone],
  'under_review to settling': [stopped, sets({ payout: 'handed' })],
  'under_review to succeeded': [stopped, paysOut()],
  'under_review to failed': [after(pending, says({ status: 'on_hold' })), decides({ say: 'write_off' })],
  'under_review to expired': [after(closed('expired'), pays('3000')), gone],
  'under_review to canceled': [after(closed('canceled'), pays('3000')), gone],
  'under_review to refunded': [after(stopped, sets({ payout: 'void' })), says({ status: 'refunded' })],
  'settling to succeeded': [handed, paysOut()],
  'settling to under_review': [handed, sets({ payout: 'stopped' })],
  'settling to refunded': [handed, says({ status: 'refunded' }), sets({ payout: 'void' })],
  'failed to under_review': [closed('failed'), pays()],
  'expired to processing': [closed('expired'), pays()],
  'expired to under_review': [closed('expired'), pays('3000')],
  'canceled to processing': [closed('canceled'), pays()],
  'canceled to under_review': [closed('canceled'), pays('3000')],
  'processing to succeeded': [after(pending, pays()), paysOut()],
  'failed to succeeded': [closed('failed'), paysOut()],
  'expired to succeeded': [closed('expired'), paysOut()],
  'canceled to succeeded': [closed('canceled'), paysOut()],
  'refunded to succeeded': [givenBack, paysOut()],
}

/** The contract’s table of states in reverse: the states from which each one can be entered. Merchants build on it. */
const ENTERED_FROM: Readonly<Record<PaymentStatus, string>> = {
  created: '',
  pending: 'created processing under_review',
  processing: 'pending under_review expired canceled',
  under_review: 'pending processing settling failed expired canceled',
  settling: 'processing under_review',
  succeeded: 'processing under_review settling failed expired canceled refunded',
  failed: 'pending processing under_review',
  expired: 'created pending processing under_review',
  canceled: 'created pending processing under_review',
  refunded: 'pending processing under_review settling',
}

describe('The states of a payment', () => {
  test.each(TRANSITIONS.map(([from, to, why]) => ({ move: `${from} to ${to}` as keyof Move, from, to, why })))(
    'a payment makes the move $move: $why',
    ({ move, from, to }) => {
      const [before, ...steps] = STORIES[move]
      expect(before.payment.status).toBe(from)
      expect(after(before, ...steps).payment.status).toBe(to)
    },
  )

  test.each(PAYMENT_STATUSES)('a payment enters %s only from the states of the contract', (status) => {
    const sources = ENTERED_FROM[status].split(' ')
    expect(
      PAYMENT_STATUSES.filter((from) => canMove(from, status))
        .toSorted()
        .join(' '),
    ).toBe(sources.toSorted().join(' '))
  })

  test('a payment with a payout is closed only by its payout, and a succeeded one never changes', () => {
    expect(PAYMENT_STATUSES.filter((to) => canMove('settling', to))).not.toContain('failed')
    expect(PAYMENT_STATUSES.filter((to) => canMove('succeeded', to))).toEqual([])
    expect(PAYMENT_STATUSES.filter((to) => canMove('refunded', to))).toEqual(['succeeded'])
  })

  test('two states let a buyer pay and a merchant cancel; five are final', () => {
    expect(PAYMENT_STATUSES.filter(isOpen)).toEqual(['created', 'pending'])
    expect(PAYMENT_STATUSES.filter(isClosed)).toEqual(['succeeded', 'failed', 'expired', 'canceled', 'refunded'])
  })

  test('simultaneous changes move through each state between, and a succeeded payment cannot move', () => {
    expect(findPath('pending', 'pending')).toEqual([])
    expect(findPath('pending', 'settling')).toEqual(['processing', 'settling'])
    expect(findPath('created', 'under_review')).toEqual(['pending', 'under_review'])
    expect(() => findPath('succeeded', 'refunded')).toThrow('no transition leads from succeeded to refunded')
  })
})

describe('The states of an attempt', () => {
  test('each state of an attempt means that money can come, is there, or is over', () => {
    const saying = (report: string) => ATTEMPT_STATUSES.filter((status) => getReport(status) === report).join(' ')
    expect(saying('open')).toBe('opening open verification_required')
    expect([saying('confirming'), saying('withheld'), saying('paid')]).toEqual(['confirming', 'on_hold', 'paid'])
    expect(saying('over')).toBe('declined canceled expired refunded')
    expect(ATTEMPT_STATUSES.filter(canStillBePaid).join(' ')).toBe(
      'opening open verification_required confirming on_hold',
    )
  })

  test('the states of an attempt are the closed list of a partner’s statuses, after `opening`', () => {
    expect(ATTEMPT_STATUSES).toEqual(['opening', ...ORDER_STATUSES])
    expect(ORDER_STATUSES.join(' ')).toBe(
      'open verification_required confirming on_hold paid declined canceled expired refunded',
    )
  })

  test('each failure is a sentence for people', () => {
    expect(Object.keys(FAILURE_CODES).join(' ')).toBe(
      'declined insufficient_funds verification_failed abandoned reversed partner_unavailable',
    )
    for (const sentence of Object.values(FAILURE_CODES)) expect(sentence).toMatch(/^The(re)? .{10,}\.$/)
  })
})
