import { plural } from '../../../domain/plural.ts'
import { Icon } from '../../kit/icon.tsx'
import { State } from '../../kit/state.tsx'

export type ChannelShown = {
  readonly id: string
  readonly kind: 'email' | 'telegram' | 'discord' | 'slack'
  readonly name: string
  readonly events: readonly string[]
  readonly language: string
  readonly quiet_from: number | null
  readonly quiet_to: number | null
  readonly quiet_zone: string | null
  readonly broken_at: string | null
  readonly broken_reason: string | null
}

export const KIND_NAMES: Readonly<Record<ChannelShown['kind'], string>> = {
  email: 'E-mail',
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
}

export const EVENT_NAMES: Readonly<Record<string, string>> = {
  'payment.succeeded': 'Payment succeeded',
  'payment.failed': 'Payment failed',
  'payment.expired': 'Payment expired',
  'payment.canceled': 'Payment canceled',
  'payment.under_review': 'Payment needs review',
  'payment.chargeback': 'Chargeback',
  'payment.refunded': 'Payment refunded',
  'dispute.created': 'Payment disputed',
  'dispute.closed': 'Dispute decided',
  'dispute.evidence_due': 'Evidence due soon',
  'refund.created': 'Refund waits for USDC',
  'refund.succeeded': 'Refund succeeded',
  'refund.failed': 'Refund failed',
  'reserve.released': 'Reserve released',
  'payment_link.completed': 'Link completed',
  'payment_link.stopped': 'Link stopped by us',
  'payment_link.resumed': 'Link resumed',
  'webhook_endpoint.disabled': 'Webhook disabled',
}

export function KindIcon({ kind }: { kind: ChannelShown['kind'] }) {
  return <Icon name={kind === 'email' ? 'mail' : 'help'} />
}

/** True for a working Telegram chat if no process has the token of the bot. */
export function isWithoutBot({ kind, broken_at: brokenAt }: ChannelShown, bot: string | null): boolean {
  return kind === 'telegram' && bot === null && brokenAt === null
}

export const NO_BOT =
  'This system currently has no Telegram bot. Notifications wait and are not lost. Add another channel, or contact support.'

/** `bot` is the name of the Telegram bot; null without one. */
export function ChannelState({ channel, bot }: { channel: ChannelShown; bot: string | null }) {
  if (isWithoutBot(channel, bot))
    return (
      <State tone="wait" icon="clock">
        Waits for the bot
      </State>
    )
  if (channel.broken_at === null)
    return (
      <State tone="success" icon="circle_check">
        Works
      </State>
    )
  return (
    <State tone="problem" icon="circle_close">
      Failing
    </State>
  )
}

/** Describes why a channel fails, and the number of waiting notifications. */
export function brokenText({ broken_reason: reason }: ChannelShown, waiting: number): string {
  const queue = plural(waiting, 'notification is waiting', 'notifications are waiting')
  return `${reason ?? 'It is failing'}. ${queue}; none is lost. Payments are not affected.`
}
