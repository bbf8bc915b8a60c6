import { plural } from '../../../../domain/plural.ts'
import { Card } from '../../../kit/card.tsx'
import { Copy } from '../../../kit/copy.tsx'
import { Curl, curlText } from '../../../kit/curl.tsx'
import { PostButton } from '../../../kit/form.tsx'
import { PageHead } from '../../../kit/page-head.tsx'
import { timeText } from '../../../kit/time.tsx'
import { type Frame, renderFramed } from '../../frame.tsx'
import { type DeliveryShown, DeliveryState, NextTry, paymentName, type TryShown } from './delivery-words.tsx'
import { bareUrl, type EndpointShown, msText } from './webhook-words.tsx'

export type DeliveryPage = {
  readonly frame: Frame
  readonly endpoint: EndpointShown
  readonly delivery: DeliveryShown
  /** The exact bytes of the event that are sent. */
  readonly body: string
  /** The headers of the selected try. A null value is no longer known, because the endpoint has changed since. */
  readonly sent: Readonly<Record<string, string | null>>
  /** The selected try; null before the first one. */
  readonly chosen: TryShown | null
  readonly mayChange: boolean
  readonly problem: string | null
  /** Why the endpoint refuses the event, just found out; null: not asked. */
  readonly diagnosis: { readonly message: string; readonly requests: number } | null
  readonly publicUrl: string
}

export function renderDelivery(page: DeliveryPage): string {
  const { frame, endpoint, delivery, chosen, mayChange, problem, publicUrl } = page
  const at = `/dashboard/webhooks/${endpoint.id}`
  const again = `${publicUrl}/v1/webhook_endpoints/${endpoint.id}/deliveries/${delivery.event}/redeliver`
  return renderFramed({
    frame,
    title: delivery.type,
    children: (
      <>
        <PageHead
          back={{ href: at, name: bareUrl(endpoint.url) }}
          title={
            <>
              {delivery.type} <DeliveryState delivery={delivery} />
            </>
          }
          lead={
            <>
              <Copy value={delivery.event} />
              {delivery.payment !== null && (
                <>
                  {' '}
                  · <a href={`/dashboard/payments/${delivery.payment.id}`}>{paymentName(delivery)}</a>
                </>
              )}
              {delivery.nextTry !== null && (
                <>
                  {' '}
                  · Next attempt <NextTry at={delivery.nextTry} />
                </>
              )}
            </>
          }
          actions={mayChange && endpoint.disabledAt === null ? <Actions page={page} /> : undefined}
        />
        {problem !== null && <p class="error">{problem}</p>}
        <Diagnosis page={page} />
        {delivery.log.length > 0 && (
          <nav class="seg" aria-label="Attempts">
            {delivery.log.map((one) => (
              <a
                key={one.number}
                href={`${at}/deliveries/${delivery.event}?try=${one.number}`}
                aria-current={one === chosen ? 'true' : undefined}
              >
                {one.number} · <code>{one.error ?? one.status}</code>
                <small>{timeText(one.at, 'seconds')}</small>
              </a>
            ))}
          </nav>
        )}
        <div class="stack wide-left">
          <Sent page={page} />
          <Answered chosen={chosen} />
        </div>
        <Curl command={curlText(again, { method: 'POST' })} />
      </>
    ),
  })
}

function Diagnosis({ page }: { page: DeliveryPage }) {
  const { diagnosis } = page
  if (diagnosis !== null)
    return (
      <Card
        id="why"
        title="What we found"
        lead={`${plural(diagnosis.requests, 'request')} sent to your server just now`}
      >
        <p>{markCode(diagnosis.message)}</p>
      </Card>
    )
  if (!canDiagnose(page)) return null
  return (
    <p class="hint">
      “Find the mistake” sends up to 30 requests within 20 seconds. Your server might process the event.
    </p>
  )
}

/** Shows the parts between backticks as code. */
const markCode = (text: string) =>
  text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))

const canDiagnose = ({ chosen, delivery, endpoint, mayChange }: DeliveryPage): boolean =>
  mayChange && endpoint.disabledAt === null && chosen !== null && delivery.status !== 'delivered'

function Actions({ page }: { page: DeliveryPage }) {
  const { frame, endpoint, delivery } = page
  const at = `/dashboard/webhooks/${endpoint.id}/deliveries/${delivery.event}`
  return (
    <>
      {canDiagnose(page) && (
        <PostButton action={`${at}/diagnose`} csrf={frame.csrf} look="button">
          Find the mistake
        </PostButton>
      )}
      <PostButton action={`${at}/redeliver`} csrf={frame.csrf} look="button fill">
        Send again now
      </PostButton>
    </>
  )
}

function Sent({ page: { endpoint, body, sent } }: { page: DeliveryPage }) {
  const url = new URL(endpoint.url)
  const head = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...Object.entries(sent).map(
      ([name, value]) => `${name}: ${value ?? '(not available: the secret has changed since, or cannot be read)'}`,
    ),
  ].join('\n')
  return (
    <Card id="rq" title="We sent" lead={`${Buffer.byteLength(body)} bytes · signed`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} aria-labelledby="rq">
        <code>{`${head}\n\n${indent(body)}`}</code>
      </pre>
    </Card>
  )
}

function Answered({ chosen }: { chosen: TryShown | null }) {
  if (chosen === null)
    return (
      <Card id="rs" title="Your server responded">
        <p class="soft">Nothing has been sent yet.</p>
      </Card>
    )
  const { status, headers, responseBody, error, durationMs } = chosen
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const text = status === null ? 'No response' : [`HTTP/1.1 ${status}`, ...lines, '', responseBody ?? ''].join('\n')
  return (
    <Card id="rs" title="Your server responded" lead={`${msText(durationMs)}${error === null ? '' : ` · ${error}`}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} aria-labelledby="rs">
        <code>{text}</code>
      </pre>
    </Card>
  )
}

function indent(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
}
