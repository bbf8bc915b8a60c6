import type { StatementLine, StatementSpan } from '../../db/merchants/statement.ts'
import { formatUsdc, subtract } from '../../domain/money.ts'
import { csvLine } from './csv.ts'
import { csvFile, type ExportFile } from './file.ts'

/** A month by days, `2026-11`, or a year by months, `2026`. */
export const STATEMENT_PERIOD = /^20\d\d(?:-(?:0[1-9]|1[0-2]))?$/

export function parseStatementPeriod(period: string): StatementSpan {
  const isMonth = period.length > 4
  const from = isMonth ? `${period}-01T00:00:00.000Z` : `${period}-01-01T00:00:00.000Z`
  return { from, to: monthsAfter(from, isMonth ? 1 : 12), by: isMonth ? 'day' : 'month' }
}

export const STATEMENT_COLUMNS = [
  'period',
  'payments',
  'converted_usdc',
  'fee_usdc',
  'reserved_usdc',
  'deducted_usdc',
  'released_usdc',
  'charged_back_usdc',
  'received_usdc',
  'refunds',
  'refunds_usdc',
  'total_usdc',
] as const

export function statementFile(period: string, form: 'csv' | 'excel', lines: readonly StatementLine[]): ExportFile {
  return csvFile(`statement-${period}`, form, toCsv(lines))
}

async function* toCsv(lines: readonly StatementLine[]): AsyncIterable<string> {
  yield csvLine(STATEMENT_COLUMNS)
  for (const line of [...lines, sumStatement(lines)]) {
    const shown = shownLine(line)
    yield csvLine(STATEMENT_COLUMNS.map((column) => shown[column]))
  }
}

export function shownLine(line: StatementLine) {
  return {
    period: line.period,
    payments: line.payments,
    converted_usdc: formatUsdc(line.gross_micro),
    fee_usdc: formatUsdc(line.fee_micro),
    reserved_usdc: formatUsdc(line.reserved_micro),
    deducted_usdc: formatUsdc(line.deducted_micro),
    released_usdc: formatUsdc(line.released_micro),
    charged_back_usdc: formatUsdc(line.charged_back_micro),
    received_usdc: formatUsdc(line.received_micro),
    refunds: line.refunds,
    refunds_usdc: formatUsdc(line.refunds_micro),
    total_usdc: formatUsdc(subtract(line.received_micro, line.refunds_micro)),
  }
}

export function sumStatement(lines: readonly StatementLine[]): StatementLine {
  const sum = (of: (line: StatementLine) => string): string =>
    lines.reduce((total, line) => total + BigInt(of(line)), 0n).toString()
  return {
    period: 'sum',
    payments: lines.reduce((total, { payments }) => total + payments, 0),
    gross_micro: sum((line) => line.gross_micro),
    fee_micro: sum((line) => line.fee_micro),
    reserved_micro: sum((line) => line.reserved_micro),
    deducted_micro: sum((line) => line.deducted_micro),
    released_micro: sum((line) => line.released_micro),
    charged_back_micro: sum((line) => line.charged_back_micro),
    received_micro: sum((line) => line.received_micro),
    refunds: lines.reduce((total, { refunds }) => total + refunds, 0),
    refunds_micro: sum((line) => line.refunds_micro),
  }
}

/** `from` is the first day of a month (ISO 8601 UTC). */
export function monthsAfter(from: string, months: number): string {
  const date = new Date(from)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1)).toISOString()
}
