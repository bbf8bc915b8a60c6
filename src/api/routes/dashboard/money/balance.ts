import { receivedByDay } from '../../../../db/merchants/overview.ts'
import { readComing, readStatement } from '../../../../db/merchants/statement.ts'
import { readHeldBack } from '../../../../db/reserves/releases.ts'
import { CHART_SPANS, type ChartSpan, renderBalance } from '../../../../web/dashboard/money/balance.tsx'
import {
  monthsAfter,
  parseStatementPeriod,
  STATEMENT_PERIOD,
  statementFile,
  sumStatement,
} from '../../../exports/statement.ts'
import { SiteProblem } from '../../site-problem.ts'
import { exportStatement } from '../../v1/exports/exports.ts'
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
      lists: 'at once',
      handle: async (call) => ({ html: await show(call, new Date(clock()).toISOString()) }),
    }),
    definePage({
      method: 'get',
      path: '/dashboard/balance.csv',
      needs: 'look',
      lists: 'in pieces',
      makes: 'file',
      handle: async ({ db, tenant, query }) => {
        const period = query['month'] ?? query['year'] ?? ''
        if (!STATEMENT_PERIOD.test(period)) throw new SiteProblem('not_found')
        const format = query['for'] === 'excel' ? 'excel' : 'csv'
        return {
          file: statementFile(period, format, await readStatement(db, tenant, parseStatementPeriod(period))),
          exported: { operation: exportStatement, data: { format, period } },
        }
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
  // One after the other, on one connection.
  const lines = await readStatement(db, tenant, { from, to, by })
  const ofMonth = await readStatement(db, tenant, { from: month, to, by: 'month' })
  const coming = await readComing(db, tenant)
  const heldBack = await readHeldBack(db, tenant)
  const bars = await readBars({ db, tenant }, span, now)
  const months = Array.from({ length: MONTHS }, (_, back) => monthsAfter(month, -back).slice(0, 7))
  const [sum, thisMonth] = [sumStatement(lines), sumStatement(ofMonth)]
  return renderBalance({
    frame,
    by,
    lines: lines.toReversed(),
    sum,
    thisMonth,
    coming,
    heldBack,
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
    const { payments = 0, received_micro: net_micro = '0' } = lines.find(({ period }) => period === day) ?? {}
    return { day, payments, net_micro }
  })
}

function daysBefore(now: string, days: number): string {
  const midnight = Date.parse(`${now.slice(0, 10)}T00:00:00.000Z`)
  return new Date(midnight - days * 86_400_000).toISOString()
}
