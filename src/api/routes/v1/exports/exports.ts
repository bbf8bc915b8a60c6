import { z } from 'zod'
import { readStatement } from '../../../../db/merchants/statement.ts'
import { hideEmails } from '../../../../domain/account/email.ts'
import { STATEMENT } from '../../../document/account-examples.ts'
import { PAYMENT } from '../../../document/examples.ts'
import { csvLine } from '../../../exports/csv.ts'
import { EXPORT_FORMATS } from '../../../exports/file.ts'
import { type PaymentExportDeps, paymentsFile } from '../../../exports/payments.ts'
import {
  parseStatementPeriod,
  STATEMENT_COLUMNS,
  STATEMENT_PERIOD,
  shownLine,
  statementFile,
  sumStatement,
} from '../../../exports/statement.ts'
import { defineOperation } from '../../../operation.ts'
import { moment, usdcAmount } from '../fields.ts'
import { paymentFilterQuery, readPaymentFilters } from '../payments/payment-list.ts'
import { paymentObject } from '../payments/payment-schemas.ts'

const format = z.enum(EXPORT_FORMATS).default('json')

const signedUsdc = z.string().regex(/^-?\d+\.\d{6}$/)

const line = z.strictObject({
  period: z.string().meta({ description: 'A day or a month in UTC; `sum` for all of them.' }),
  payments: z.int(),
  converted_usdc: usdcAmount,
  fee_usdc: usdcAmount,
  reserved_usdc: usdcAmount,
  deducted_usdc: usdcAmount,
  released_usdc: usdcAmount,
  charged_back_usdc: signedUsdc,
  received_usdc: usdcAmount,
  refunds: z.int(),
  refunds_usdc: usdcAmount,
  total_usdc: signedUsdc,
})

const statementObject = z
  .strictObject({
    object: z.literal('statement'),
    livemode: z.boolean(),
    from: moment,
    to: moment.meta({ description: 'Excluded.' }),
    by: z.enum(['day', 'month']),
    lines: z.array(line).meta({
      description: 'Oldest first. Periods in which nothing was received, refunded or charged back are omitted.',
    }),
    sum: line,
  })
  .meta({ id: 'Statement', examples: [STATEMENT] })

const csv = (example: string) => z.string().meta({ description: 'RFC 4180, with a header line.', examples: [example] })

const FILTERS = (_body: unknown, query: Readonly<Record<string, unknown>>): object => hideEmails(query)

export const exportPayments = defineOperation({
  name: 'exportPayments',
  method: 'get',
  path: '/v1/exports/payments',
  audited: FILTERS,
  reachesOut: true,
  tag: 'Exports',
  summary: 'Export every payment that matches the filters',
  description: 'Newest first, as a stream of any length. If the stream breaks off, the file is incomplete.',
  scope: 'payments:read',
  query: z.strictObject({ format, ...paymentFilterQuery }),
  answers: { 200: z.array(paymentObject).meta({ examples: [[PAYMENT]] }) },
  csv: csv('id,status,amount_decimal,currency\r\n'),
  problems: ['list_too_slow'],
  example: { query: { format: 'json', status: 'succeeded', 'created[gte]': '2026-01-01T00:00:00Z' } },
  handle: async ({ caller, db, query }, deps: PaymentExportDeps) => {
    const wanted = { filters: readPaymentFilters(query), form: query.format }
    return { status: 200, body: '', file: paymentsFile(deps, { db, tenant: caller }, wanted) }
  },
})

export const exportStatement = defineOperation({
  name: 'exportStatement',
  method: 'get',
  path: '/v1/exports/statement',
  audited: FILTERS,
  reachesOut: true,
  tag: 'Exports',
  summary: 'Export what you received and refunded in a month by day, or in a year by month',
  description:
    'Payments that succeeded, by the time at which their USDC was final, and refunds that succeeded, by the time at which the partner paid the buyer back.',
  scope: 'payments:read',
  query: z.strictObject({
    format,
    period: z.string().regex(STATEMENT_PERIOD, 'must be a month such as 2026-11, or a year such as 2026'),
  }),
  answers: { 200: statementObject },
  csv: csv(csvLine(STATEMENT_COLUMNS)),
  problems: ['list_too_slow'],
  example: { query: { period: '2026-11' } },
  handle: async ({ caller, db, query }) => {
    const span = parseStatementPeriod(query.period)
    const lines = await readStatement(db, caller, span)
    if (query.format !== 'json')
      return { status: 200, body: '', file: statementFile(query.period, query.format, lines) }
    const { livemode } = caller
    const sum = shownLine(sumStatement(lines))
    const statement = { object: 'statement', livemode, ...span, lines: lines.map(shownLine), sum } as const
    return { status: 200, body: statement }
  },
})
