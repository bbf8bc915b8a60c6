import { ALWAYS_SENT } from '../../../domain/notification/channel.ts'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import {
  brokenText,
  type ChannelShown,
  ChannelState,
  isWithoutBot,
  KIND_NAMES,
  KindIcon,
  NO_BOT,
} from './channel-words.tsx'

export type NotificationsView = {
  readonly frame: Frame
  readonly channels: readonly ChannelShown[]
  /** The number of notifications that no message has contained yet, by channel. */
  readonly waiting: ReadonlyMap<string, number>
  readonly mayChange: boolean
  /** The name of the Telegram bot; null without one. */
  readonly bot: string | null
}

const OFFERED = ['email', 'telegram', 'slack', 'discord'] as const

export function renderNotifications({ frame, channels, waiting, mayChange, bot }: NotificationsView): string {
  return renderFramed({
    frame,
    title: 'Notifications',
    children: (
      <>
        <PageHead
          title="Notifications"
          lead="Who is notified of what, and where. A failing channel never affects a payment."
        />
        {channels.length === 0 && (
          <section class="card empty stack">
            <h2>No channel yet</h2>
            <p>{ALWAYS_SENT} Without a channel, everybody in your team gets them by e-mail.</p>
          </section>
        )}
        <ul class="stack even">
          {channels.map((channel) => (
            <li key={channel.id} class="card">
              <div class="row">
                <span class="pin large">
                  <KindIcon kind={channel.kind} />
                </span>
                <div class="grow">
                  <h2>
                    <a class="row-link" href={`/dashboard/notifications/${channel.id}`}>
                      {KIND_NAMES[channel.kind]}
                    </a>
                  </h2>
                  <p class="soft">{channel.name}</p>
                </div>
                <ChannelState channel={channel} bot={bot} />
              </div>
              {channel.broken_at !== null && <p>{brokenText(channel, waiting.get(channel.id) ?? 0)}</p>}
              {isWithoutBot(channel, bot) && <p>{NO_BOT}</p>}
            </li>
          ))}
        </ul>
        {mayChange && (
          <section class="card" aria-labelledby="ad">
            <header>
              <div>
                <h2 id="ad">Add a channel</h2>
                <p>More than 10 messages a minute become one summary.</p>
              </div>
            </header>
            <div class="actions">
              {OFFERED.filter((kind) => kind !== 'telegram' || bot !== null).map((kind) => (
                <a
                  key={kind}
                  class="button"
                  href={
                    kind === 'telegram' ? '/dashboard/notifications/telegram' : `/dashboard/notifications/new/${kind}`
                  }
                >
                  {KIND_NAMES[kind]}
                </a>
              ))}
            </div>
          </section>
        )}
      </>
    ),
  })
}
