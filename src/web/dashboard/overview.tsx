import type { Agreement } from '../../domain/account/agreement.ts'
import type { Money } from '../../domain/money.ts'
import type { Payment } from '../../domain/payment/payment-object.ts'
import { plural } from '../../domain/plural.ts'
import { Card } from '../kit/card.tsx'
import { Copy, shorten } from '../kit/copy.tsx'
import { Fact, Facts } from '../kit/facts.tsx'
import { Icon } from '../kit/icon.tsx'
import { PageHead } from '../kit/page-head.tsx'
import { spanText, Time, timeText } from '../kit/time.tsx'
import { Chart, type DayReceived } from './chart.tsx'
import { FirstSteps, type FirstView } from './first-steps.tsx'
import { type Frame, renderFramed } from './frame.tsx'
import { NewPayment } from './new-payment.tsx'
import { PaymentTable } from './payment-table.tsx'
import { fiatText, usdcText } from './payment-words.tsx'
import { StatusNote } from './status-note.tsx'

export type Waiting = {
  readonly paymentId: string
  readonly amount: Money
  /** The merchant's reference, else the description. */
  readonly order: string | null
  /** The problem and its consequence, as text. */
  readonly what: string
  readonly since: string
}

export type OverviewView = {
  readonly frame: Frame
  readonly now: string
  /** Oldest first; the last one is today. */
  readonly days: readonly DayReceived[]
  readonly ended: { readonly succeeded: number; readonly ended: number }
  readonly inFlight: number
  readonly waiting: readonly Waiting[]
  readonly latest: readonly Payment[]
  readonly agreement: Agreement
  readonly wallet: string | null
  readonly webhooks: { readonly delivered: number; readonly tried: number; readonly waiting: number } | null
  /** Null if all first steps are done. */
  readonly first: FirstView | null
}

export function renderOverview(view: OverviewView): string {
  const { frame, now, days, waiting, latest } = view
  const total = usdcText(days.reduce((sum, { net_micro: net }) => sum + BigInt(net), 0n).toString(), 2)
  return renderFramed({
    frame,
    title: 'Overview',
    children: (
      <>
        {latest.length === 0 ? (
          <PageHead title="Welcome" lead={welcome(frame)} />
        ) : (
          <PageHead title="Overview" lead={<Time at={now} />} actions={<NewPayment frame={frame} />} />
        )}
        <StatusNote agreement={view.agreement} />
        {latest.length > 0 && <Stats view={view} />}
        {waiting.length > 0 && <Attention waiting={waiting} now={now} />}
        <div class="cols">
          <div class="col">
            {view.first !== null && <FirstSteps frame={frame} view={view.first} />}
            {latest.length > 0 && (
              <Card id="vol" title="Received" lead={`${total} USDC in ${days.length} days`}>
                <Chart days={days} total={total} />
              </Card>
            )}
            {latest.length > 0 && (
              <Card
                id="recent"
                title="Latest payments"
                flush
                actions={
                  <a class="button text" href="/dashboard/payments">
                    All payments
                  </a>
                }
              >
                <PaymentTable caption="Latest payments" payments={latest} now={now} />
              </Card>
            )}
          </div>
          <Side view={view} />
        </div>
      </>
    ),
  })
}

const welcome = ({ testMode }: Frame): string =>
  `Take your first ${testMode ? 'test ' : ''}payment in about ten minutes.${testMode ? ' Nothing here is real money.' : ''}`

function Stats({ view: { days, ended, inFlight, waiting } }: { view: OverviewView }) {
  const today = days.at(-1)
  const rate = ended.ended === 0 ? null : ((ended.succeeded / ended.ended) * 100).toFixed(1)
  return (
    <dl class="stats">
      <div>
        <dt>Received today</dt>
        <dd>
          <a href="/dashboard/payments?view=succeeded&created=today">
            <b>{usdcText(today?.net_micro ?? '0', 2)}</b> <span class="cur">USDC</span>
          </a>
          <small>{plural(today?.payments ?? 0, 'payment')}</small>
        </dd>
      </div>
      <div>
        <dt>Success rate today</dt>
        <dd>
          <b>{rate ?? '–'}</b> {rate !== null && <span class="cur">%</span>}
          <small>
            {ended.ended === 0
              ? 'No payment has finished today'
              : `${ended.succeeded} of ${ended.ended} finished payments succeeded`}
          </small>
        </dd>
      </div>
      <div>
        <dt>In progress</dt>
        <dd>
          <a href="/dashboard/payments?view=in_flight">
            <b>{inFlight}</b> <span class="cur">{inFlight === 1 ? 'payment' : 'payments'}</span>
          </a>
          <small>Paid or being paid, not yet in your wallet</small>
        </dd>
      </div>
      {waiting.length > 0 && (
        <div class="wait">
          <dt>Needs attention</dt>
          <dd>
            <a href="#attention">
              <b>{waiting.length}</b>
            </a>
          </dd>
        </div>
      )}
    </dl>
  )
}

function Attention({ waiting, now }: { waiting: readonly Waiting[]; now: string }) {
  return (
    <Card id="attention" title="Needs attention" flush look="alert">
      <ul class="list">
        {waiting.map(({ paymentId, amount, order, what, since }) => (
          <li key={`${paymentId} ${what}`} class="wait">
            <Icon name="warning" />
            <div class="grow">
              <a class="row-link" href={`/dashboard/payments/${paymentId}`}>
                <b>
                  {fiatText(amount)} {amount.currency}, {order ?? shorten(paymentId, 12, 5)}
                </b>
              </a>
              <p class="soft">{what}</p>
            </div>
            <time class="soft" dateTime={since} title={`Since ${timeText(since, 'long')} UTC`}>
              {spanText(Date.parse(now) - Date.parse(since))}
            </time>
            <span class="button" aria-hidden="true">
              Review
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Side({ view: { wallet, webhooks } }: { view: OverviewView }) {
  return (
    <aside class="side" aria-label="Account">
      <Card id="w" title="Wallet">
        <Facts>
          <Fact name="Address">
            {wallet === null ? (
              <span class="soft">Not set</span>
            ) : (
              <Copy value={wallet} short={shorten(wallet, 6, 4)} />
            )}
          </Fact>
          <Fact name="Network">Polygon, USDC</Fact>
        </Facts>
      </Card>
      {webhooks !== null && (
        <Card id="wh" title="Webhooks">
          <Facts>
            <Fact name="Delivered, 24 h">
              {webhooks.tried === 0 ? 'No events yet' : `${webhooks.delivered} of ${webhooks.tried}`}
            </Fact>
            <Fact name="Waiting">{webhooks.waiting === 0 ? 'None' : webhooks.waiting}</Fact>
          </Facts>
        </Card>
      )}
    </aside>
  )
}
