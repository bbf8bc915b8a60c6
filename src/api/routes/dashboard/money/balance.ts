import { receivedByDay } from '../../../../db/merchants/overview.ts'
import { readComing, readStatement, type StatementLine } from '../../../../db/merchants/statement.ts'
import { formatUsdc } from '../../../../domain/money.ts'
import { CHART_SPANS, type ChartSpan, renderBalance } from '../../../../web/dashboard/money/balance.tsx'
import { SiteProblem } from '../../site-problem.ts'
import { csvLine } from '../csv.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

export type BalancePageDeps = { readonly clock: () => number }

const DAYS = 30
const MONTHS = 12

export function balancePages({ clock }: BalancePageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/balance',
      needs: 'look',
      handle: async (call) => ({ html: await show(call, new Date(clock()).toISOString()) }),
    }),
    definePage({
      method: 'get',
      path: '/dashboard/balance.csv',
      needs: 'look',
      handle: async ({ db, tenant, query }) => {
        const month = query['month'] ?? ''
        const year = query['year'] ?? ''
        const isMonth = /^20\d\d-(?:0[1-9]|1[0-2])$/.test(month)
        if (!isMonth && !/^20\d\d$/.test(year)) throw new SiteProblem('not_found')
        const from = isMonth ? `${month}-01T00:00:00.000Z` : `${year}-01-01T00:00:00.000Z`
        const by = isMonth ? 'day' : 'month'
        const span = { from, to: monthsAfter(from, isMonth ? 1 : 12), by } as const
        const lines = await readStatement(db, tenant, span)
        const name = `statement-${isMonth ? month : year}.csv`
        return { file: { name, type: 'text/csv; charset=utf-8', chunks: file(lines) } }
      },
    }),
  ]
}

async function show({ db, tenant, frame, query }: PageCall, now: string): Promise<string> {
  const by = query['by'] === 'month' ? 'month' : 'day'
  const month = `${now.slice(0, 7)}-01T00:00:00.000Z`
  const from = by === 'month' ? monthsAfter(month, 1 - MONTHS) : daysBefore(now, DAYS - 1)
  const to = monthsAfter(month, 1)
  const span = CHART_SPANS.find((known) => known === query['d']) ?? '30'
  const [lines, ofMonth, coming, bars] = await Promise.all([
    readStatement(db, tenant, { from, to, by }),
    readStatement(db, tenant, { from: month, to, by: 'month' }),
    readComing(db, tenant),
    readBars({ db, tenant }, span, now),
  ])
  const months = Array.from({ length: MONTHS }, (_, back) => monthsAfter(month, -back).slice(0, 7))
  const [sum, thisMonth] = [sumOf(lines), sumOf(ofMonth)]
  return renderBalance({
    frame,
    by,
    lines: lines.toReversed(),
    sum,
    thisMonth,
    coming,
    chart: { span, bars },
    months,
    now,
  })
}

async function readBars({ db, tenant }: Pick<PageCall, 'db' | 'tenant'>, span: ChartSpan, now: string) {
  if (span !== '365') return receivedByDay(db, tenant, { now, days: Number(span) })
  const month = `${now.slice(0, 7)}-01T00:00:00.000Z`
  const year = { from: monthsAfter(month, 1 - MONTHS), to: monthsAfter(month, 1), by: 'month' } as const
  const lines = await readStatement(db, tenant, year)
  return Array.from({ length: MONTHS }, (_, nth) => {
    const day = monthsAfter(year.from, nth).slice(0, 7)
    const { payments = 0, net_micro = '0' } = lines.find(({ period }) => period === day) ?? {}
    return { day, payments, net_micro }
  })
}

function sumOf(lines: readonly StatementLine[]): StatementLine {
  const sum = (of: (line: StatementLine) => string): string =>
    lines.reduce((total, line) => total + BigInt(of(line)), 0n).toString()
  return {
    period: 'sum',
    payments: lines.reduce((total, { payments }) => total + payments, 0),
    gross_micro: sum((line) => line.gross_micro),
    fee_micro: sum((line) => line.fee_micro),
    net_micro: sum((line) => line.net_micro),
  }
}

/** One line a period, then the sum. */
async function* file(lines: readonly StatementLine[]): AsyncIterable<string> {
  yield csvLine(['period', 'payments', 'converted_usdc', 'fee_usdc', 'received_usdc'])
  for (const { period, payments, gross_micro, fee_micro, net_micro } of [...lines, sumOf(lines)])
    yield csvLine([period, payments, formatUsdc(gross_micro), formatUsdc(fee_micro), formatUsdc(net_micro)])
}

/** The first day of the month so many months later; `from` is one (ISO 8601 UTC). */
function monthsAfter(from: string, months: number): string {
  const date = new Date(from)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1)).toISOString()
}

function daysBefore(now: string, days: number): string {
  const midnight = Date.parse(`${now.slice(0, 10)}T00:00:00.000Z`)
  return new Date(midnight - days * 86_400_000).toISOString()
}
