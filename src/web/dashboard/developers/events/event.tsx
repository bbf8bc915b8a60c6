import { plural } from '../../../../domain/plural.ts'
import { Card } from '../../../kit/card.tsx'
import { Copy, shorten } from '../../../kit/copy.tsx'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { Fact, Facts } from '../../../kit/facts.tsx'
import { PostButton } from '../../../kit/form.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { Recent, Time } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { type DeliveryShown, DeliveryState } from '../webhooks/delivery-words.tsx'
import { bareUrl } from '../webhooks/webhook-words.tsx'
import { type EventShown, EventState } from './event-words.tsx'

/** The delivery of the event to one endpoint. */
export type SentShown = Pick<DeliveryShown, 'status' | 'attempts'> & {
  readonly endpoint: string
  readonly url: string
  /** True if the endpoint is disabled. */
  readonly off: boolean
  readonly lastAt: string | null
}

export type EventPage = {
  readonly frame: Frame
  readonly event: EventShown
  /** The exact bytes that are sent. */
  readonly body: string
  readonly sent: readonly SentShown[]
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}

export function renderEvent(page: EventPage): string {
  const { frame, event, body, publicUrl } = page
  const { id, type, sequence, payment, about, at } = event
  return renderFramed({
    frame,
    title: type,
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/events', name: 'Events' }}
          title={
            <>
              {type} <EventState event={event} />
            </>
          }
          lead={<Copy value={id} />}
        />
        <Facts across>
          <Fact name="Sequence">{sequence ?? 'None: it only tests an endpoint'}</Fact>
          <Fact name="Time">
            <Time at={at} />
          </Fact>
          <Fact name="About">
            {payment === null ? '–' : <a href={`/dashboard/payments/${payment}`}>{about ?? shorten(payment, 12, 5)}</a>}
          </Fact>
        </Facts>
        <Deliveries page={page} />
        <Card id="payload" title="Payload" lead={`${Buffer.byteLength(body)} bytes, the same in every attempt`}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <pre tabIndex={0} aria-labelledby="payload">
            <code>{JSON.stringify(JSON.parse(body), null, 2)}</code>
          </pre>
        </Card>
        <Curl command={curlText(`${publicUrl}/v1/events/${id}`)} />
      </>
    ),
  })
}

function Deliveries({ page: { frame, event, sent, mayChange, now } }: { page: EventPage }) {
  return (
    <Card id="sent" title="Deliveries" flush>
      {sent.length === 0 && <p class="empty soft">No endpoint was subscribed to it when it happened.</p>}
      <ul class="list">
        {sent.map(({ endpoint, url, off, status, attempts, lastAt }) => {
          const at = `/dashboard/webhooks/${endpoint}/deliveries/${event.id}`
          return (
            <li key={endpoint}>
              <div class="grow">
                <a class="row-link" href={at}>
                  <b class="mono">{bareUrl(url)}</b>
                </a>
                <p class="soft">
                  {attempts === 0 ? 'Not sent yet' : plural(attempts, 'attempt')}
                  {lastAt !== null && (
                    <>
                      , the last at <Recent at={lastAt} now={now} />
                    </>
                  )}
                </p>
              </div>
              <DeliveryState delivery={{ status, attempts }} />
              {mayChange && !off && (
                <PostButton action={`${at}/redeliver`} csrf={frame.csrf}>
                  Send again
                </PostButton>
              )}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
