import type { PaymentStatus } from '../../src/domain/payment/payment.ts'
import type { PlayedWay } from './ways.ts'

/**
 * The content of a page at a moment, in addition to the rules for every page. `NAME` is the partner, `OTHER` the other
 * way's.
 */
export type Moment = {
  readonly page: string | (Readonly<Partial<Record<PlayedWay['method'], string>>> & { readonly otherwise: string })
  readonly status: readonly PaymentStatus[]
  readonly title: string
  readonly heading: string | null
  /** The beginning of its one filled button; null: it has none. */
  readonly filled: string | null
  readonly says?: readonly string[]
}

const PAYABLE = ['created', 'pending'] as const
const MOVING = ['processing', 'settling'] as const
const BACK = 'Back to Test Shop'

/** The moments of the stories, by the buyer's names for them. */
export const MOMENTS = {
  ready: { page: 'confirm', status: PAYABLE, title: 'Pay €49.99', heading: 'Pay', filled: '' },
  'an order is open': {
    page: { upi: 'upi', usdc: 'usdc', otherwise: 'finish' },
    status: ['pending'],
    title: '',
    heading: null,
    filled: null,
  },
  'just back': {
    page: { usdc: 'usdc', otherwise: 'returning' },
    status: ['pending'],
    title: '',
    heading: null,
    filled: null,
  },
  'back for a while': {
    page: 'returning',
    status: ['pending'],
    title: 'Checking',
    heading: 'Still checking',
    filled: null,
  },
  'left without paying': {
    page: 'confirm',
    status: ['pending'],
    title: 'Not paid yet: €49.99',
    heading: 'Pay',
    filled: '',
    says: ['You came back from NAME without paying.', 'Nothing was charged.'],
  },
  declined: {
    page: 'declined',
    status: ['pending'],
    title: 'Declined: €49.99',
    heading: 'Your payment was declined',
    filled: '',
    says: ['Nothing was charged.', 'Try again at NAME'],
  },
  'identity check': {
    page: 'verification',
    status: ['pending'],
    title: 'Identity check: €49.99',
    heading: 'A quick identity check',
    filled: 'Continue the check at NAME',
  },
  'open at another': {
    page: 'open_elsewhere',
    status: ['pending'],
    title: 'Already open at NAME: €49.99',
    heading: 'Already open at NAME',
    filled: 'Continue at NAME',
    says: ['do not pay there'],
  },
  confirming: {
    page: 'progress',
    status: ['processing'],
    title: 'Checking with NAME: €49.99',
    heading: 'Your payment is on its way',
    filled: null,
    says: ['NAME is confirming your payment', 'Please don’t pay again'],
  },
  'on its way': {
    page: 'progress',
    status: MOVING,
    title: 'On its way: ',
    heading: 'Your payment is on its way',
    filled: null,
    says: ['has confirmed'],
  },
  'being checked': {
    page: 'checking',
    status: ['under_review'],
    title: 'Being checked: ',
    heading: 'We are checking this payment',
    filled: null,
    says: ['Your money is safe.', 'please don’t pay again'],
  },
  'a part has come': {
    page: { usdc: 'usdc', otherwise: 'checking' },
    status: ['under_review', 'pending'],
    title: '',
    heading: null,
    filled: null,
    says: ['Arrived', 'Missing'],
  },
  paid: { page: 'done', status: ['succeeded'], title: 'Paid: ', heading: 'Paid. Thank you.', filled: BACK },
  'paid late': {
    page: 'done',
    status: ['succeeded'],
    title: 'Paid: ',
    heading: 'Paid. Thank you.',
    filled: BACK,
    says: ['Your payment arrived late.', 'It counts'],
  },
  'paid with more': {
    page: 'done',
    status: ['succeeded'],
    title: 'Paid: ',
    heading: 'on top',
    filled: BACK,
    says: ['Extra amount', 'Test Shop'],
  },
  'paid twice': {
    page: 'done',
    status: ['succeeded'],
    title: 'Paid twice: ',
    heading: 'The second payment goes back.',
    filled: BACK,
    says: ['Held for you', 'Counted'],
  },
  expired: {
    page: 'closed',
    status: ['expired'],
    title: 'Expired: €49.99',
    heading: 'This payment has expired',
    filled: BACK,
  },
  canceled: {
    page: 'closed',
    status: ['canceled'],
    title: 'Canceled: €49.99',
    heading: 'This payment was canceled',
    filled: BACK,
  },
  'expired, and the money is held': {
    page: 'closed',
    status: ['expired'],
    title: 'Expired: €49.99',
    heading: 'This payment has expired',
    filled: BACK,
    says: [
      'Your payment arrived late.',
      'Your money is safe.',
      'please don’t pay again',
      'Arrived',
      'Our team arranges the return',
    ],
  },
  'expired, and the money went back': {
    page: 'closed',
    status: ['expired'],
    title: 'Expired: €49.99',
    heading: 'This payment has expired',
    filled: BACK,
    says: ['Your money was returned'],
  },
  'not offered here': {
    page: 'pick',
    status: ['created'],
    title: 'Pay €49.99',
    heading: 'How would you like to pay?',
    filled: null,
    says: ['not offered in'],
  },
  'does not answer': {
    page: 'pick',
    status: ['created'],
    title: 'Pay €49.99',
    heading: 'How would you like to pay?',
    filled: null,
    says: ['NAME is not responding'],
  },
} as const satisfies Readonly<Record<string, Moment>>

export type MomentName = keyof typeof MOMENTS

/** Returns the page of the moment for the way: most are the same for all. */
export function getPage({ page }: Moment, { method }: PlayedWay): string {
  return typeof page === 'string' ? page : (page[method] ?? page.otherwise)
}
