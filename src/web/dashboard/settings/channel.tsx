import { ALWAYS_SENT, NOTIFICATION_EVENTS, NOTIFICATION_LANGUAGES } from '../../../domain/notification/channel.ts'
import { formatClock } from '../../../domain/notification/quiet.ts'
import { Card } from '../../kit/card.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { PostButton, PostForm } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Table } from '../../kit/table.tsx'
import { Time } from '../../kit/time.tsx'
import { LANGUAGES } from '../../messages/locales.ts'
import { type Frame, renderFramed } from '../frame.tsx'
import {
  brokenText,
  type ChannelShown,
  ChannelState,
  EVENT_NAMES,
  isWithoutBot,
  KIND_NAMES,
  NO_BOT,
} from './channel-words.tsx'

export type MessageShown = {
  readonly id: string
  readonly state: 'sending' | 'sent' | 'waiting' | 'unknown' | 'refused'
  readonly kind: 'single' | 'digest' | 'test'
  readonly count: number
  readonly kinds: readonly string[]
  readonly unanswered: number
  readonly failure: string | null
  readonly created_at: string
}

export type ChannelView = {
  readonly frame: Frame
  readonly channel: ChannelShown
  /** Newest first. */
  readonly messages: readonly MessageShown[]
  readonly waiting: number
  readonly errors: FormErrors
  readonly mayChange: boolean
  /** The name of the Telegram bot; null without one. */
  readonly bot: string | null
}

export function renderChannel(view: ChannelView): string {
  const { frame, channel, waiting, mayChange, bot } = view
  const at = `/dashboard/notifications/${channel.id}`
  return renderFramed({
    frame,
    title: KIND_NAMES[channel.kind],
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/notifications', name: 'Notifications' }}
          title={KIND_NAMES[channel.kind]}
          lead={channel.name}
          actions={
            mayChange ? (
              <PostButton action={`${at}/test`} csrf={frame.csrf}>
                Send a test
              </PostButton>
            ) : undefined
          }
        >
          <ChannelState channel={channel} bot={bot} />
        </PageHead>
        {channel.broken_at !== null && (
          <Note
            tone="problem"
            icon="warning"
            strong="It is failing"
            actions={
              mayChange && (
                <PostButton action={`${at}/mend`} csrf={frame.csrf}>
                  Resume, and send what is waiting
                </PostButton>
              )
            }
          >
            {brokenText(channel, waiting)}
          </Note>
        )}
        {isWithoutBot(channel, bot) && (
          <Note tone="wait" icon="clock" strong="Nothing is sent to it">
            {NO_BOT}
          </Note>
        )}
        {mayChange && <Settings view={view} at={at} />}
        <Messages view={view} />
        {mayChange && (
          <Card id="rm" title="Remove" lead="It no longer receives notifications. Payments continue.">
            <PostButton action={`${at}/remove`} csrf={frame.csrf} look="button danger">
              Remove this channel
            </PostButton>
          </Card>
        )}
      </>
    ),
  })
}

function Settings({ view: { frame, channel, errors }, at }: { view: ChannelView; at: string }) {
  const clock = (minutes: number | null): string => (minutes === null ? '' : formatClock(minutes))
  return (
    <PostForm action={`${at}/change`} csrf={frame.csrf} look="form card">
      <ErrorSummary errors={errors} />
      {channel.kind !== 'email' && (
        <Field name="name" label="Name" errors={errors}>
          {(attributes) => <input {...attributes} required maxLength={80} value={channel.name} />}
        </Field>
      )}
      <fieldset>
        <legend>Events</legend>
        <p class="hint">{ALWAYS_SENT}</p>
        <div class="options">
          {NOTIFICATION_EVENTS.map((event) => (
            <label key={event} class="choice">
              <input type="checkbox" name="event" value={event} checked={channel.events.includes(event)} />
              {EVENT_NAMES[event] ?? event}
            </label>
          ))}
        </div>
      </fieldset>
      <Field name="language" label="Language">
        {(attributes) => (
          <select {...attributes}>
            {NOTIFICATION_LANGUAGES.map((language) => (
              <option key={language} value={language} lang={language} selected={language === channel.language}>
                {LANGUAGES[language].name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <fieldset>
        <legend>Quiet hours</legend>
        <p class="hint">Messages wait and arrive as one. Security notifications are never delayed.</p>
        <div class="options">
          <Field name="quiet_from" label="From" errors={errors}>
            {(attributes) => <input {...attributes} type="time" value={clock(channel.quiet_from)} />}
          </Field>
          <Field name="quiet_to" label="To">
            {(attributes) => <input {...attributes} type="time" value={clock(channel.quiet_to)} />}
          </Field>
          <Field name="quiet_zone" label="Time zone">
            {(attributes) => <input {...attributes} maxLength={60} value={channel.quiet_zone ?? 'UTC'} />}
          </Field>
        </div>
      </fieldset>
      <button type="submit" class="button fill big">
        Save
      </button>
    </PostForm>
  )
}

const STATES: Readonly<Record<MessageShown['state'], string>> = {
  sending: 'Being sent',
  sent: 'Sent',
  waiting: 'Waiting to retry',
  unknown: 'No response: it may have arrived, and is sent again',
  refused: 'Refused',
}

function Messages({ view: { messages } }: { view: ChannelView }) {
  if (messages.length === 0) return null
  return (
    <Card id="ms" title="Last messages" flush>
      <Table<MessageShown>
        caption="Last messages"
        rows={messages}
        columns={[
          { name: 'What', place: 'a', cell: contentText },
          { name: 'State', place: 'c', cell: stateText },
          { name: 'At', place: 'd', look: 'num', cell: ({ created_at: at }) => <Time at={at} /> },
        ]}
      />
    </Card>
  )
}

function contentText({ kind, count, kinds }: MessageShown): string {
  if (kind === 'test') return 'A test'
  if (count > 1) return `${count} notifications`
  return kinds.map((each) => EVENT_NAMES[each] ?? 'Security').join(', ')
}

function stateText({ state, failure, unanswered }: MessageShown): string {
  const again = state === 'sent' && unanswered > 0 ? ', more than once: a response was lost' : ''
  return failure === null ? `${STATES[state]}${again}` : `${STATES[state]} (${failure})`
}
