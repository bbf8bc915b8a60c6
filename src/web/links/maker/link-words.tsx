import type { LinkStatus, PaymentLink } from '../../../domain/link/link.ts'
import { PROVIDERS } from '../../../domain/methods.ts'
import { fiatText, usdcText } from '../../dashboard/payment-words.tsx'
import type { IconName } from '../../kit/icon.tsx'
import { State } from '../../kit/state.tsx'
import type { Tone } from '../../kit/tone.ts'

export function priceText({ price: { amount, currency, min, max } }: PaymentLink): string {
  if (amount !== null) return `${fiatText(amount)} ${currency}`
  if (min !== null && max !== null) return `Buyer decides, ${fiatText(min)} to ${fiatText(max)} ${currency}`
  if (min !== null) return `Buyer decides, from ${fiatText(min)} ${currency}`
  return max === null ? `Buyer decides, in ${currency}` : `Buyer decides, up to ${fiatText(max)} ${currency}`
}

export function methodText({ provider }: Pick<PaymentLink, 'provider'>): string {
  return provider === null ? 'buyer picks how to pay' : PROVIDERS[provider].label
}

const LOOKS: Readonly<Record<LinkStatus, { tone: Tone; icon: IconName; word: string }>> = {
  active: { tone: 'success', icon: 'circle_check', word: 'Active' },
  paused: { tone: 'quiet', icon: 'circle_minus', word: 'Paused' },
  sold_out: { tone: 'quiet', icon: 'circle_check', word: 'No places left' },
  expired: { tone: 'quiet', icon: 'clock', word: 'Ended' },
  stopped: { tone: 'problem', icon: 'circle_close', word: 'Stopped by us' },
}

export function LinkState({ status }: { status: LinkStatus }) {
  const { tone, icon, word } = LOOKS[status]
  return (
    <State tone={tone} icon={icon}>
      {word}
    </State>
  )
}

export type Totals = {
  readonly started: number
  readonly paid: number
  readonly under_way: number
  readonly net_micro: string
  readonly fee_micro: string
}

export function Stats({ totals }: { totals: Totals }) {
  const { started, paid, under_way: underWay, net_micro: net, fee_micro: fee } = totals
  return (
    <dl class="stats">
      <div>
        <dt>Paid</dt>
        <dd>
          <b>{paid}</b>
          <small>of {started} started</small>
        </dd>
      </div>
      <div>
        <dt>Received</dt>
        <dd>
          <b>{usdcText(net, 2)}</b> <span class="cur">USDC</span>
          <small>after {usdcText(fee, 2)} USDC fee</small>
        </dd>
      </div>
      <div>
        <dt>In progress</dt>
        <dd>
          <b>{underWay}</b>
          <small>{underWay === 1 ? 'payment' : 'payments'}</small>
        </dd>
      </div>
    </dl>
  )
}
