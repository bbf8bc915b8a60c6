import type { Payment } from '../../domain/payment/payment-object.ts'
import { SiteIcon } from '../site/icons.tsx'
import { Moment, Recent } from '../site/moment.tsx'
import { Card, Copy, Fact, Facts, Head, shortened } from '../site/parts.tsx'
import { Chart, type DayReceived } from './chart.tsx'
import { type Frame, renderFramed } from './frame.tsx'
import { PaymentTable } from './payment-table.tsx'
import { usdcText } from './payment-words.tsx'

/** Something that waits for a person. */
export type Waiting = {
  readonly paymentId: string
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
  readonly wallet: string | null
  readonly webhooks: { readonly delivered: number; readonly tried: number; readonly waiting: number } | null
  readonly steps: Steps
}

/** What a new account has done. */
export type Steps = {
  readonly passkey: boolean
  readonly wallet: boolean
  readonly key: boolean
  readonly payment: boolean
  readonly webhook: boolean
}

export function renderOverview(view: OverviewView): string {
  const { frame, now, days, waiting, latest } = view
  const total = usdcText(days.reduce((sum, { net_micro: net }) => sum + BigInt(net), 0n).toString(), 2)
  const isDone = Object.values(view.steps).every(Boolean)
  return renderFramed({
    frame,
    title: 'Overview',
    children: (
      <>
        <Head title="Overview" lead={<Moment at={now} />} />
        <Stats view={view} />
        {waiting.length > 0 && <Attention waiting={waiting} now={now} />}
        <div class="cols">
          <div class="col">
            {!isDone && <FirstSteps steps={view.steps} email={frame.email} />}
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
                  <a class="btn text" href="/dashboard/payments">
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
          <small>{count(today?.payments ?? 0, 'payment')}</small>
        </dd>
      </div>
      <div>
        <dt>Success rate today</dt>
        <dd>
          <b>{rate ?? '–'}</b> {rate !== null && <span class="cur">%</span>}
          <small>
            {ended.ended === 0
              ? 'Nothing has ended today'
              : `${ended.succeeded} of ${ended.ended} that were tried and ended`}
          </small>
        </dd>
      </div>
      <div>
        <dt>In flight</dt>
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
        {waiting.map(({ paymentId, what, since }) => (
          <li key={`${paymentId} ${what}`} class="wait">
            <SiteIcon name="warn" />
            <div class="grow">
              <a class="row-link" href={`/dashboard/payments/${paymentId}`}>
                <b>{what}</b>
              </a>
              <p class="soft">{shortened(paymentId, 12, 5)}</p>
            </div>
            <Recent at={since} now={now} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The six steps, in the order in which they make sense. */
function stepsOf(steps: Steps, email: string) {
  return [
    { done: true, title: 'Confirm your e-mail', text: email, link: null },
    {
      done: steps.passkey,
      title: 'Add a passkey',
      text: 'Sign-in then takes one touch, and no mailbox is needed.',
      link: { href: '/dashboard/passkey', name: 'Add a passkey' },
    },
    {
      done: steps.wallet,
      title: 'Set your wallet',
      text: 'Where your USDC goes: an address on Polygon that only you control, not an exchange’s.',
      link: { href: '/docs/api/settings#setWallet', name: 'Read how' },
    },
    {
      done: steps.key,
      title: 'Create an API key',
      text: 'With it your shop creates payments.',
      link: { href: '/docs/api/api-keys#createApiKey', name: 'Read how' },
    },
    {
      done: steps.payment,
      title: 'Take a payment',
      text: 'Create it with one call, then pay it as your own buyer.',
      link: { href: '/docs/first-payment#create-a-payment', name: 'Read how' },
    },
    {
      done: steps.webhook,
      title: 'Hear about payments',
      text: 'A webhook tells your shop when the money is in your wallet.',
      link: { href: '/docs/webhooks#register-your-server', name: 'Read how' },
    },
  ]
}

function FirstSteps({ steps, email }: { steps: Steps; email: string }) {
  const all = stepsOf(steps, email)
  const done = all.filter((step) => step.done).length
  const next = all.findIndex((step) => !step.done)
  return (
    <section class="card" aria-labelledby="fs">
      <header>
        <div>
          <h2 id="fs">First steps</h2>
          <p>
            {done} of {all.length} done
          </p>
        </div>
        <progress max={all.length} value={done} aria-label="First steps done" />
      </header>
      <ol class="timeline">
        {all.map((step, index) => (
          <li
            key={step.title}
            class={step.done ? 'success full' : index === next ? 'brand full' : 'quiet'}
            aria-current={index === next ? 'step' : undefined}
          >
            <span class="pin">
              {step.done ? <SiteIcon name="check" /> : index + 1}
              {step.done && <span class="hidden">Done</span>}
            </span>
            <div>
              <h3>{step.title}</h3>
              <p class="soft">{step.text}</p>
              {!step.done && step.link !== null && (
                <p class="actions">
                  <a class={index === next ? 'btn fill' : 'btn'} href={step.link.href}>
                    {step.link.name}
                  </a>
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
    </section>
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
              <Copy value={wallet} short={shortened(wallet, 6, 4)} />
            )}
          </Fact>
          <Fact name="Network">Polygon, USDC</Fact>
        </Facts>
      </Card>
      {webhooks !== null && (
        <Card id="wh" title="Webhooks">
          <Facts>
            <Fact name="Delivered, 24 h">
              {webhooks.delivered} of {webhooks.tried}
            </Fact>
            <Fact name="Waiting">{webhooks.waiting === 0 ? 'None' : webhooks.waiting}</Fact>
          </Facts>
        </Card>
      )}
    </aside>
  )
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
