import { z } from 'zod'
import type { MethodName } from '../../domain/methods.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import type { PartnerSettings } from '../../domain/partner/drivers.ts'
import type {
  CallbackReading,
  FailureCode,
  OrderStatus,
  PartnerOrder,
  RawCallback,
} from '../../domain/payment/partner.ts'
import { ask, type HttpAnswer, unclear } from '../http.ts'
import {
  type CallbackSettings,
  type Driver,
  type OpenedOrder,
  type OpenOrder,
  PartnerError,
  type PaymentPartner,
  type RefundResult,
} from '../provider.ts'
import { FOREIGN, readAs, readCallbackBody, refused, shorten } from '../reading.ts'
import { hmacSha256, isInWindow, isSigned } from '../signature.ts'

/** The protocol is in docs/providers.md. The partner cannot cancel an order, so `cancelOrder` is absent. */

const NAME = 'local_partner'

const STATES = {
  INITIATED: 'open',
  KYC_PENDING: 'verification_required',
  DEBIT_PENDING: 'confirming',
  RISK_HOLD: 'on_hold',
  SUCCESS: 'paid',
  FAILURE: 'declined',
  REVERSED: 'declined',
  LAPSED: 'expired',
  REFUNDED: 'refunded',
} as const satisfies Record<string, OrderStatus>

/** Response codes of a failed debit, similar to those of UPI. */
const FAILURES: Readonly<Record<string, FailureCode>> = {
  Z9: 'insufficient_funds',
  ZA: 'abandoned',
  KX: 'verification_failed',
  RR: 'reversed',
  XB: 'partner_unavailable',
}

const MODES: Readonly<Partial<Record<MethodName, string>>> = {
  upi: 'UPI_INTENT',
  card: 'CARD',
  bank_transfer: 'BANK_TRANSFER',
}

const paiseSchema = z.int().min(0)
const txnSchema = z.object({
  mid: z.string(),
  txn_ref: z.string(),
  order_no: z.string().min(1).max(35),
  state: z.enum(Object.keys(STATES) as [keyof typeof STATES]),
  amount_paise: paiseSchema,
  credited_paise: paiseSchema,
  fail_code: z.string(),
  page_url: z.url({ protocol: /^https?$/ }),
  intent: z.string().max(1000),
})
type Txn = z.infer<typeof txnSchema>

const answerSchema = z.object({ resp_code: z.string(), txn: txnSchema.optional() })
const refundAnswerSchema = z.object({
  resp_code: z.string(),
  refund: z
    .object({ refund_ref: z.string(), state: z.enum(['DONE', 'QUEUED', 'REJECTED']), remarks: z.string() })
    .optional(),
})
const eventSchema = z.object({
  evt_id: z.string().min(1).max(100),
  ts: z.int().min(1).max(99_999_999_999),
  mid: z.string(),
  txn: z.object({ txn_ref: z.string().min(1).max(100) }),
})

export const localPartner: Driver = { connect: (_provider, settings) => connect(settings), readCallback }

function connect(settings: PartnerSettings): PaymentPartner {
  const post = (path: string, fields: object, signal: AbortSignal) => postSigned(settings, { path, fields }, signal)

  return {
    name: NAME,
    async openOrder(order, signal) {
      return readOpened(order, await post('/txn/create', createFields(order), signal))
    },
    async readOrder({ attemptId }, signal) {
      return readFound(attemptId, await post('/txn/status', { txn_ref: attemptId }, signal))
    },
    async refundOrder({ attemptId, key, amount }, signal) {
      const part = amount === null ? {} : { amount_paise: Number(amount.minor) }
      return (
        readRefund(key, await post('/txn/refund', { txn_ref: attemptId, refund_ref: key, ...part }, signal)) ?? {
          kind: 'refused',
          reason: 'the partner does not know the order',
        }
      )
    },
    async findRefund({ attemptId, key }, signal) {
      return readRefund(key, await post('/txn/refund/status', { txn_ref: attemptId, refund_ref: key }, signal))
    },
  }
}

/** Checks the checksum of the answer before it reads the answer. */
async function postSigned(
  settings: PartnerSettings,
  request: { readonly path: string; readonly fields: object },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const body = JSON.stringify({ mid: settings.account, ts: Math.floor(Date.now() / 1000), ...request.fields })
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'x-checksum': hmacSha256(settings.secret, body, 'base64'),
  }
  const answer = await ask({ to: NAME, method: 'POST', url: `${settings.url}${request.path}`, headers, body }, signal)
  if (answer.status !== 200) throw unclear(NAME, `answered ${answer.status}`)
  const checksums = [answer.headers['x-checksum'] ?? '']
  if (!isSigned(checksums, [settings.secret], (secret) => hmacSha256(secret, answer.text, 'base64')))
    throw unclear(NAME, 'answered with a wrong checksum')
  return answer
}

function createFields(order: OpenOrder): object {
  const mode = MODES[order.method]
  if (mode === undefined) throw new PartnerError('misconfigured', `${NAME}: has no method ${order.method}`)
  if (order.amount.currency !== 'INR') throw new PartnerError('misconfigured', `${NAME}: charges in INR only`)
  return {
    txn_ref: order.attemptId,
    mode,
    // Amounts have at most 14 digits, so a JSON number is exact.
    amount_paise: Number(order.amount.minor),
    note: shorten(order.description, 200),
    redirect_url: order.returnUrl,
    valid_till: order.expiresAt,
  }
}

function readOpened(order: OpenOrder, answer: HttpAnswer): OpenedOrder {
  const { resp_code: code, txn } = readAs(NAME, answerSchema, answer)
  if (code === 'DECLINED' || code in FAILURES) return { kind: 'declined', failureCode: toFailureCode(code) }
  const opened = requireTxn(code, txn)
  if (toOrder(order.attemptId, opened).amount.minor !== order.amount.minor)
    throw unclear(NAME, 'opened an order of another amount')
  const intentUri = order.method === 'upi' ? checkIntent(opened.intent, { order, reference: opened.order_no }) : null
  return { kind: 'opened', reference: opened.order_no, redirectUrl: opened.page_url, intentUri }
}

/** The link must name this order and amount (NPCI UPI linking specification 1.6). */
function checkIntent(intent: string, expected: { order: OpenOrder; reference: string }): string {
  const query = intent.startsWith('upi://pay?') ? new URLSearchParams(intent.slice('upi://pay?'.length)) : null
  const isMatching =
    query !== null &&
    (query.get('pa') ?? '') !== '' &&
    query.get('tr') === expected.reference &&
    query.get('am') === formatAmount(expected.order.amount) &&
    query.get('cu') === 'INR'
  if (!isMatching) throw unclear(NAME, 'answered with a UPI link that does not fit the order')
  return intent
}

function readFound(attemptId: string, answer: HttpAnswer): PartnerOrder | null {
  const { resp_code: code, txn } = readAs(NAME, answerSchema, answer)
  return code === 'NOT_FOUND' ? null : toOrder(attemptId, requireTxn(code, txn))
}

function requireTxn(code: string, txn: Txn | undefined): Txn {
  if (code === 'AUTH') throw refusesAccount()
  if (code !== 'OK' || txn === undefined) throw unclear(NAME, 'answered without the order')
  return txn
}

function toOrder(attemptId: string, txn: Txn): PartnerOrder {
  if (txn.txn_ref !== attemptId) throw unclear(NAME, 'answered about another order')
  const status = STATES[txn.state]
  return {
    attemptId,
    reference: txn.order_no,
    account: txn.mid,
    status,
    amount: rupees(txn.amount_paise),
    received: txn.credited_paise === 0 ? null : rupees(txn.credited_paise),
    failureCode: status === 'declined' ? toFailureCode(txn.fail_code) : null,
  }
}

function rupees(paise: number): Money {
  return { minor: paise.toString(), currency: 'INR' }
}

function toFailureCode(code: string): FailureCode {
  return FAILURES[code] ?? 'declined'
}

/** Null: the partner does not know the order, or has no such refund of it. */
function readRefund(key: string, answer: HttpAnswer): RefundResult | null {
  const { resp_code: code, refund } = readAs(NAME, refundAnswerSchema, answer)
  if (code === 'NOT_FOUND') return null
  if (code === 'AUTH') throw refusesAccount()
  if (code !== 'OK' || refund?.refund_ref !== key) throw unclear(NAME, 'answered about another refund')
  if (refund.state === 'REJECTED') return { kind: 'refused', reason: refund.remarks || 'no reason given' }
  return { kind: refund.state === 'DONE' ? 'refunded' : 'pending' }
}

/** `X-Checksum: <base64>[ <base64>]` over the raw body. The body, with the time in it, is read only after the check. */
function readCallback(settings: CallbackSettings, callback: RawCallback): CallbackReading {
  const checksums = (callback.headers['x-checksum'] ?? '').split(/[\s,]+/).filter((part) => part !== '')
  if (!isSigned(checksums, settings.webhookSecrets, (secret) => hmacSha256(secret, callback.body, 'base64')))
    return refused('signature')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  if (!isInWindow(event.ts, callback.receivedAt)) return refused('timestamp')
  if (event.mid !== settings.account) return FOREIGN
  return { kind: 'order', eventId: event.evt_id, subject: { attemptId: event.txn.txn_ref } }
}

function refusesAccount(): PartnerError {
  return new PartnerError('misconfigured', `${NAME}: refused our account or checksum`, { isWhole: true })
}
