import { isZero, type MicroUsdc, subtract } from '../../../domain/money.ts'
import {
  type FundingRefusal,
  REFUND_FUNDING_MS,
  type Refund,
  type RefundFailure,
  type RefundStatus,
} from '../../../domain/refund/refund.ts'
import type { IconName } from '../../kit/icon.tsx'
import { State } from '../../kit/state.tsx'
import { timeText } from '../../kit/time.tsx'
import type { Tone } from '../../kit/tone.ts'
import { fiatText, usdcText } from '../payment-words.tsx'

type Look = { readonly word: string; readonly tone: Tone; readonly icon: IconName }

export const REFUND_LOOKS: Readonly<Record<RefundStatus, Look>> = {
  awaiting_funds: { word: 'Waiting for USDC', tone: 'wait', icon: 'clock' },
  funded: { word: 'USDC received', tone: 'brand', icon: 'circle_next' },
  pending: { word: 'At the partner', tone: 'brand', icon: 'circle_next' },
  succeeded: { word: 'Succeeded', tone: 'success', icon: 'circle_check' },
  failed: { word: 'Failed', tone: 'problem', icon: 'circle_close' },
  canceled: { word: 'Canceled', tone: 'quiet', icon: 'circle_minus' },
  expired: { word: 'Expired', tone: 'quiet', icon: 'clock' },
}

export function RefundState({ status }: Pick<Refund, 'status'>) {
  const { word, tone, icon } = REFUND_LOOKS[status]
  return (
    <State tone={tone} icon={icon}>
      {word}
    </State>
  )
}

/** Minutes for which the rate of a refund is locked. */
export const LOCKED_MINUTES = REFUND_FUNDING_MS / 60_000

export const refundText = ({ amount }: Pick<Refund, 'amount'>): string => `${fiatText(amount)} ${amount.currency}`

/** Returns the micro-USDC that are still missing at the address of the refund. */
export function countMissing({
  requiredMicro,
  receivedMicro,
}: Pick<Refund, 'requiredMicro' | 'receivedMicro'>): MicroUsdc {
  const missing = subtract(requiredMicro, receivedMicro)
  return missing.startsWith('-') ? '0' : missing
}

/** The step of a refund that waits for USDC. `now`: ISO 8601. */
export type FundingStep = 'opening' | 'deducting' | 'late' | 'refused' | 'sending' | 'part' | 'open'

export function findFundingStep(refund: Refund, now: string): FundingStep {
  if (Date.parse(refund.expiresAt) <= Date.parse(now)) return 'late'
  if (refund.fundFrom === 'next_payouts') return 'deducting'
  if (refund.place === null) return 'opening'
  if (!isZero(refund.receivedMicro)) return 'part'
  if (refund.signedAt === null) return 'open'
  return refund.fundingRefusal === null ? 'sending' : 'refused'
}

/** Describes the state of a refund and the next step, in one or two sentences. */
export function describeRefund(refund: Refund, now: string): string {
  const { status, receivedMicro, fundFrom } = refund
  const goesBack = isZero(receivedMicro)
    ? ''
    : fundFrom === 'wallet'
      ? ' Its USDC goes back to the wallet of the payment.'
      : ' What was deducted is released to your wallet.'
  switch (status) {
    case 'awaiting_funds':
      return describeFunding(refund, now)
    case 'funded':
      return 'Your USDC is final. We are about to ask the partner to pay the buyer back.'
    case 'pending':
      if (fundFrom === 'payment')
        return 'We stop the payout, if there is one, and have the partner give the whole payment back. You have nothing to do.'
      return 'The partner is paying the buyer back. Some partners take days. You have nothing to do.'
    case 'succeeded':
      return 'The partner has paid the buyer back. Depending on the buyer’s bank, it may take a few days to appear.'
    case 'failed':
      return `${describeFailure(refund)}${goesBack}`
    case 'canceled':
      return `It was canceled before it was paid for. The buyer gets nothing.${goesBack}`
    case 'expired':
      return `It was not paid for in time, so the buyer gets nothing.${goesBack} Create another refund if it is still wanted.`
  }
}

function describeFunding(refund: Refund, now: string): string {
  const { requiredMicro, receivedMicro, expiresAt } = refund
  const until = `until ${timeText(expiresAt, 'long')} UTC`
  const missing = countMissing(refund)
  switch (findFundingStep(refund, now)) {
    case 'opening':
      return 'Its address for USDC is being made. That takes a few seconds.'
    case 'late':
      if (refund.fundFrom === 'next_payouts')
        return 'The time is over. Payouts that are final within a few minutes still count; no more is deducted.'
      return 'The time to pay is over. USDC that you sent in time still counts if it is final within a few minutes. Send no more.'
    case 'deducting':
      return `We deduct the missing ${usdcText(missing, 6)} USDC from your next payouts, ${until}. Then the buyer gets the money back the way it was paid. You have nothing to do.`
    case 'sending':
      return 'We have your signature, and are sending the transfer. It is final within about a minute. You have nothing to do.'
    case 'part':
      return `${usdcText(receivedMicro, 6)} USDC arrived. Send the missing ${usdcText(missing, 6)} USDC ${until}.`
    case 'refused':
      return `Your signed transfer cannot be sent. See below what to do ${until}.`
    case 'open':
      return `Pay ${usdcText(requiredMicro, 6)} USDC ${until}. Then the buyer gets the money back the way it was paid.`
  }
}

const FAILURES: Readonly<Record<RefundFailure, string>> = {
  money_gone:
    'The partner no longer has the money of this payment: the buyer charged it back, or got it back in another way. The buyer needs no refund from you.',
  payment_changed:
    'The payment was settled, or its money changed, before the money could go back. Look at the payment, and refund it again if that is still wanted.',
  refused: 'The partner refused to pay the buyer back. Ask the buyer for another way, and pay the buyer yourself.',
  usdc_returned: 'Its USDC went back to you before the partner was asked. Create another refund if it is still wanted.',
  wallet_not_allowed:
    'The wallet of this payment belongs to the platform, so USDC could not go back to it. Contact support.',
  no_addresses: 'This platform makes no addresses for USDC, so it cannot take the USDC of a refund. Contact support.',
}

/** The buyer of a payment that is not settled might still get the money back: from our team, or by another refund. */
const REFUSED_UNSETTLED =
  'The partner refused to give the payment back. Do not pay the buyer yourself: if the payment is settled after all, refund it then, and if not, our team returns the money.'

function describeFailure({ statusReason, fundFrom }: Refund): string {
  if (statusReason === null) return 'It failed.'
  return statusReason === 'refused' && fundFrom === 'payment' ? REFUSED_UNSETTLED : FAILURES[statusReason]
}

/** Why the token refuses the transfer that the wallet has signed, and the person's next step. */
export const REFUSAL_STEPS: Readonly<Record<FundingRefusal, { readonly what: string; readonly todo: string }>> = {
  insufficient_balance: {
    what: 'The wallet has too little USDC.',
    todo: 'Send USDC to the wallet. We try again every 30 seconds: you need not sign again.',
  },
  invalid_signature: {
    what: 'The signature is not from the wallet of the payment, or not for exactly this transfer.',
    todo: 'Sign again with the wallet of the payment, and change nothing in the data.',
  },
  expired: { what: 'The time in which the signature was valid is over.', todo: 'Create another refund.' },
  nonce_used: {
    what: 'The wallet has used or canceled the nonce of this transfer.',
    todo: 'Send the USDC to the address below.',
  },
  blocked: {
    what: 'The issuer of USDC has blocked the wallet.',
    todo: 'Ask the issuer (Circle), or send the USDC from another wallet to the address below.',
  },
  paused: {
    what: 'The issuer of USDC has stopped all transfers.',
    todo: 'Wait. We try again every 30 seconds: you need not sign again.',
  },
  other: { what: 'The token refuses the transfer.', todo: 'Send the USDC to the address below.' },
}

/** True if another signature can help. */
export const canSignAgain = ({ fundingRefusal }: Refund): boolean =>
  fundingRefusal === null || fundingRefusal === 'invalid_signature'
