import { subtract } from '../../../domain/money.ts'
import { plural } from '../../../domain/plural.ts'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Column, Table } from '../../kit/table.tsx'
import { spanText, timeText } from '../../kit/time.tsx'
import { Chart, type DayReceived } from '../chart.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { usdcText } from '../payment-words.tsx'

export type StatementLine = {
  /** `2026-11-21` or `2026-11`. */
  readonly period: string
  readonly payments: number
  readonly gross_micro: string
  readonly fee_micro: string
  readonly reserved_micro: string
  readonly deducted_micro: string
  readonly released_micro: string
  readonly charged_back_micro: string
  readonly received_micro: string
  readonly refunds: number
  /** The micro-USDC that the refunds have taken. */
  readonly refunds_micro: string
}

/** The spans of the chart: 7 days, 30 days, or 12 months. */
export const CHART_SPANS = ['7', '30', '365'] as const
export type ChartSpan = (typeof CHART_SPANS)[number]

const SPAN_NAMES: Readonly<Record<ChartSpan, string>> = { 7: '7 days', 30: '30 days', 365: '12 months' }

export type BalanceView = {
  readonly frame: Frame
  readonly by: 'day' | 'month'
  /** Newest first. */
  readonly lines: readonly StatementLine[]
  readonly sum: StatementLine
  readonly thisMonth: StatementLine
  readonly heldBack: { readonly micro: string; readonly nextOn: string | null }
  readonly coming: { readonly payments: number; readonly net_micro: string; readonly oldest: string | null }
  readonly chart: { readonly span: ChartSpan; readonly bars: readonly DayReceived[] }
  /** The months that have a file, newest first: `2026-11`. */
  readonly months: readonly string[]
  readonly now: string
}

const NO_BALANCE = 'We hold no balance. Here is what is in progress and what has arrived.'
const WITH_RESERVE = 'Here is what is in progress, what has arrived, and what is held back for chargebacks.'

export function renderBalance(view: BalanceView): string {
  const { frame, chart, by, lines } = view
  const total = usdcText(chart.bars.reduce((sum, { net_micro: net }) => sum + BigInt(net), 0n).toString(), 2)
  return renderFramed({
    frame,
    title: 'Balance',
    children: (
      <>
        <PageHead
          title="Balance"
          lead={view.heldBack.micro === '0' ? NO_BALANCE : WITH_RESERVE}
          actions={
            <>
              <Files months={view.months} excel />
              <Files months={view.months} excel={false} />
            </>
          }
        />
        <Stats view={view} />
        <section class="card" aria-labelledby="vol">
          <header>
            <div>
              <h2 id="vol">Received</h2>
              <p>{`${total} USDC in ${SPAN_NAMES[chart.span]}`}</p>
            </div>
            <nav class="seg" aria-label="Period">
              {CHART_SPANS.map((span) => (
                <a key={span} href={`?d=${span}&by=${by}`} aria-current={span === chart.span ? 'true' : undefined}>
                  {SPAN_NAMES[span]}
                </a>
              ))}
            </nav>
          </header>
          <Chart days={chart.bars} total={total} by={chart.span === '365' ? 'month' : 'day'} />
        </section>
        <section class="stack" aria-labelledby="st">
          <header class="row between">
            <h2 id="st">Statement</h2>
            <nav class="seg" aria-label="By">
              <a href={`?d=${chart.span}&by=day`} aria-current={by === 'day' ? 'true' : undefined}>
                By day
              </a>
              <a href={`?d=${chart.span}&by=month`} aria-current={by === 'month' ? 'true' : undefined}>
                By month
              </a>
            </nav>
          </header>
          <div class="table-box">
            {lines.length === 0 ? <p class="empty soft">Nothing has arrived in this period.</p> : <Lines view={view} />}
          </div>
          <Note tone="success" icon="shield" strong="It adds up">
            Every USDC received is a transfer to your wallet that is final on chain. Each payment has a receipt that
            proves its transfer: <a href="/receipts/verify">check it yourself</a>.{' '}
            {view.sum.refunds > 0 &&
              'Refunds are the USDC that they took, on the day on which the buyer was paid back. What they did not take went back to your wallet. '}
            Days are in UTC.
          </Note>
        </section>
      </>
    ),
  })
}

/** A menu of statement files. Files for Excel begin with a byte order mark, which other programs would read as text. */
function Files({ months, excel }: { months: readonly string[]; excel: boolean }) {
  const [form, more] = excel ? ['CSV for Excel', '&for=excel'] : ['CSV', '']
  const year = months[0]?.slice(0, 4)
  return (
    <details class="dropdown">
      <summary class="button">
        <Icon name="save" />
        {`Statement, ${form}`}
      </summary>
      <ul class="menu">
        {months.map((month) => (
          <li key={month}>
            <a href={`/dashboard/balance.csv?month=${month}${more}`}>{`${timeText(month, 'month')}, ${form}`}</a>
          </li>
        ))}
        <li>
          <a href={`/dashboard/balance.csv?year=${year}${more}`}>{`${year}, ${form}`}</a>
        </li>
      </ul>
    </details>
  )
}

/** Reserves are due in the past while payouts are held, or before the release of the day is made. */
function nextRelease(on: string | null, now: string): string {
  if (on === null) return ''
  return on <= now.slice(0, 10) ? `due since ${timeText(on, 'date')}` : `next release ${timeText(on, 'date')}`
}

function Stats({ view: { coming, heldBack, thisMonth, now } }: { view: BalanceView }) {
  const month = timeText(now, 'month')
  const oldest = coming.oldest === null ? '' : ` · oldest ${spanText(Date.parse(now) - Date.parse(coming.oldest))}`
  return (
    <dl class="stats">
      <Stat name="In progress" micro={coming.net_micro} small={`${plural(coming.payments, 'payment')}${oldest}`} />
      {heldBack.micro !== '0' && (
        <Stat name="Held back as a reserve" micro={heldBack.micro} small={nextRelease(heldBack.nextOn, now)} />
      )}
      <Stat
        name={`Received, ${month}`}
        micro={thisMonth.received_micro}
        small={`${plural(thisMonth.payments, 'payout')} · all final on chain`}
      />
      <Stat
        name={`Fees, ${month}`}
        micro={thisMonth.fee_micro}
        small={`of ${usdcText(thisMonth.gross_micro, 2)} converted`}
      />
    </dl>
  )
}

function Stat({ name, micro, small }: { name: string; micro: string; small: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <b>{usdcText(micro, 2)}</b> <span class="cur">USDC</span>
        <small>{small}</small>
      </dd>
    </div>
  )
}

const RESERVE_COLUMNS: readonly Column<StatementLine>[] = [
  {
    name: 'Held back',
    look: 'num wide-only',
    cell: ({ reserved_micro: micro }) => (micro === '0' ? '0' : `−${usdcText(micro, 6)}`),
  },
  { name: 'Released', look: 'num wide-only', cell: ({ released_micro: micro }) => usdcText(micro, 6) },
]

/** The column of periods in which payouts paid for refunds. */
const DEDUCTION_COLUMN: Column<StatementLine> = {
  name: 'For refunds',
  look: 'num wide-only',
  cell: ({ deducted_micro: micro }) => (micro === '0' ? '0' : `−${usdcText(micro, 6)}`),
}

/** The column of periods with chargebacks. */
const CHARGEBACK_COLUMN: Column<StatementLine> = {
  name: 'Charged back',
  look: 'num wide-only',
  cell: ({ charged_back_micro: micro }) => signedUsdc(micro),
}

/** The columns of periods with refunds. */
const REFUND_COLUMNS: readonly Column<StatementLine>[] = [
  {
    name: 'Refunds',
    look: 'num',
    cell: ({ refunds_micro: micro }) => (micro === '0' ? '0' : `−${usdcText(micro, 6)}`),
  },
  {
    name: 'Total',
    look: 'num wide-only',
    cell: ({ received_micro: received, refunds_micro: micro }) => signedUsdc(subtract(received, micro)),
  },
]

const signedUsdc = (micro: string): string =>
  `${micro.startsWith('-') ? '−' : ''}${usdcText(micro.replace('-', ''), 6)}`

function Lines({ view: { lines, sum, by } }: { view: BalanceView }) {
  const hasReserve = sum.reserved_micro !== '0' || sum.released_micro !== '0'
  return (
    <Table<StatementLine>
      caption={by === 'day' ? 'Statement by day' : 'Statement by month'}
      rows={[...lines, sum]}
      rowLook={(line) => (line === sum ? 'tinted' : '')}
      columns={[
        {
          name: by === 'day' ? 'Day' : 'Month',
          cell: (line) => (line === sum ? <b>Sum</b> : timeText(line.period, by === 'day' ? 'weekday' : 'month')),
        },
        { name: 'Payments', look: 'num wide-only', cell: ({ payments }) => payments },
        { name: 'Converted', look: 'num wide-only', cell: ({ gross_micro: gross }) => usdcText(gross, 6) },
        {
          name: 'Fee',
          look: sum.refunds === 0 ? 'num' : 'num wide-only',
          cell: ({ fee_micro: fee }) => (fee === '0' ? '0' : `−${usdcText(fee, 6)}`),
        },
        ...(sum.deducted_micro === '0' ? [] : [DEDUCTION_COLUMN]),
        ...(hasReserve ? RESERVE_COLUMNS : []),
        ...(lines.some(({ charged_back_micro: micro }) => micro !== '0') ? [CHARGEBACK_COLUMN] : []),
        { name: 'Received', look: 'num', cell: ({ received_micro: net }) => <b>{usdcText(net, 6)}</b> },
        ...(sum.refunds === 0 ? [] : REFUND_COLUMNS),
      ]}
    />
  )
}
