import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { readPayment } from '../../../db/payments/payments.ts'
import { listDeductions, readDeductionLimit } from '../../../db/refunds/deductions.ts'
import { listRefunds, readRefund } from '../../../db/refunds/refunds.ts'
import { hasAbility } from '../../../domain/account/roles.ts'
import { isId } from '../../../domain/ids.ts'
import { formatAmount } from '../../../domain/money.ts'
import type { PaymentWithAttempts } from '../../../domain/payment/payment-object.ts'
import { REFUND_STATUSES, type Refund } from '../../../domain/refund/refund.ts'
import { whyRefundNotCancelable } from '../../../domain/refund/refund-step.ts'
import { findRefundable } from '../../../domain/refund/refundable.ts'
import { getStamp } from '../../../web/checkout/live.ts'
import { renderRefundPage } from '../../../web/dashboard/refunds/refund.tsx'
import { type RefundDraft, renderRefundForm, renderRefundQuote } from '../../../web/dashboard/refunds/refund-form.tsx'
import { refundsHref, renderRefunds } from '../../../web/dashboard/refunds/refunds.tsx'
import { catchRefusal, Problem, refuseField } from '../../http/problems.ts'
import { toFieldErrors } from '../../http/validation.ts'
import { oneLine, plainAmount } from '../../links/link-form.ts'
import { SiteProblem } from '../site-problem.ts'
import { createRefund, type RefundCreateDeps } from '../v1/refunds/refund-create.ts'
import { planRefund } from '../v1/refunds/refund-plan.ts'
import { cancelRefund, fundRefund } from '../v1/refunds/refunds.ts'
import { onceField } from './fields.ts'
import { runOperation } from './operations.ts'
import { definePage, type Page, type PageCall } from './page.ts'
import { findNeighbors, readCursors } from './pager.ts'
import { findPayment } from './payment.ts'

export type RefundPageDeps = RefundCreateDeps & { readonly publicUrl: string }

const PER_PAGE = 50

const text = z.string().max(2000).default('')
const draftForm = z.object({ amount: text, reason: text, source: text })

export function refundPages(deps: RefundPageDeps): Page[] {
  return [...formPages(deps), ...ownPages(deps), listPage(deps)]
}

/** The way to a new refund: the form, what it costs, and the creation. */
function formPages(deps: RefundPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/payments/:id/refund',
      needs: 'sell',
      handle: async (call) => ({ html: await showForm(deps, call, { state: await findPayment(call) }) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/payments/:id/refund',
      needs: 'sell',
      form: draftForm,
      handle: async (call) => {
        const state = await findPayment(call)
        const plan = await catchRefusal(planDraft(deps, state, call.form))
        if (plan instanceof Problem) {
          const errors = toFieldErrors(plan, 'amount')
          return { status: 400, html: await showForm(deps, call, { state, draft: call.form, errors }) }
        }
        const { payment } = state
        const { frame } = call
        const { publicUrl } = deps
        return {
          html: renderRefundQuote({ frame, payment, draft: call.form, ...plan, once: randomUUID(), publicUrl }),
        }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/payments/:id/refunds',
      needs: 'sell',
      form: draftForm.extend({ once: onceField }),
      handle: async (call) => {
        const { once, ...draft } = call.form
        // Checked before the audit log is written, because its entries cannot be removed.
        const state = await findPayment(call)
        const currency = (state.payment.confirmed ?? state.payment.amount).currency
        // Before the settlement the whole payment goes back, and the form names no amount.
        const amount = draft.amount === '' ? {} : { amount: plainAmount(draft.amount, currency) }
        const body = { ...amount, ...toReason(draft), ...toSource(draft) }
        const params = { id: state.payment.id }
        const made = await catchRefusal(runOperation(deps, call, { operation: createRefund, params, body, once }))
        if (!(made instanceof Problem)) return { to: `/dashboard/refunds/${made.id}`, done: 'refund_made' }
        const errors = toFieldErrors(made, 'amount')
        return { status: 400, html: await showForm(deps, call, { state, draft, errors }) }
      },
    }),
  ]
}

/** The pages of one refund. */
function ownPages(deps: RefundPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/refunds/:id',
      needs: 'look',
      handle: async (call) => ({ html: await showRefund(deps, call, { refund: await findRefund(call) }) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/refunds/:id/fund',
      needs: 'sell',
      form: z.object({ signature: z.string().max(9000).default('') }),
      handle: async (call) => {
        const refund = await findRefund(call)
        const body = { signature: call.form.signature.trim() }
        const request = { operation: fundRefund, params: { id: refund.id }, body, noted: {} }
        const funded = await catchRefusal(runOperation(deps, call, request))
        if (!(funded instanceof Problem)) return { to: `/dashboard/refunds/${refund.id}`, done: 'refund_signed' }
        const errors = funded.extras.errors === undefined ? {} : toFieldErrors(funded, 'signature')
        const problem = funded.extras.errors === undefined ? funded.message : null
        return { status: 400, html: await showRefund(deps, call, { refund: await findRefund(call), errors, problem }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/refunds/:id/cancel',
      needs: 'sell',
      handle: async (call) => {
        const { id } = await findRefund(call)
        const canceled = await catchRefusal(runOperation(deps, call, { operation: cancelRefund, params: { id } }))
        if (!(canceled instanceof Problem)) return { to: `/dashboard/refunds/${id}`, done: 'refund_canceled' }
        const problem = canceled.message
        return { status: 409, html: await showRefund(deps, call, { refund: await findRefund(call), problem }) }
      },
    }),
  ]
}

function listPage({ clock, publicUrl }: RefundPageDeps): Page {
  return definePage({
    method: 'get',
    path: '/dashboard/refunds',
    needs: 'look',
    lists: 'at once',
    handle: async ({ db, tenant, frame, query }) => {
      const status = REFUND_STATUSES.find((known) => known === query['status']) ?? null
      const cursors = readCursors(query, 'refund')
      const page = { limit: PER_PAGE, ...cursors }
      const { rows: refunds, hasMore } = await listRefunds(db, tenant, {
        filters: { status: status ?? undefined },
        page,
      })
      const neighbors = findNeighbors(cursors, { items: refunds, hasMore, href: refundsHref(status) })
      const now = new Date(clock()).toISOString()
      return { html: renderRefunds({ frame, status, refunds, ...neighbors, now, publicUrl }) }
    },
  })
}

async function findRefund({ db, tenant, params }: PageCall): Promise<Refund> {
  const id = params['id'] ?? ''
  const found = isId('refund', id) ? await readRefund(db, tenant, id) : null
  if (found === null) throw new SiteProblem('not_found')
  return found
}

type FormShown = {
  readonly state: PaymentWithAttempts
  readonly draft?: RefundDraft
  readonly errors?: Readonly<Record<string, string>>
}

/** A page that shows no button to refund leads here only by its URL, or after another person has refunded the rest. */
async function showForm(
  { publicUrl }: RefundPageDeps,
  { frame, db, tenant }: PageCall,
  { state, draft, errors = {} }: FormShown,
): Promise<string> {
  const refundable = findRefundable(state)
  const { payment } = state
  return renderRefundForm({
    frame,
    payment,
    refundable,
    draft: draft ?? { amount: refundable === null ? '' : formatAmount(refundable.left), reason: '', source: '' },
    deductionLimit: await readDeductionLimit(db, tenant.merchantId),
    errors,
    once: randomUUID(),
    publicUrl,
  })
}

const toSource = ({ source }: Pick<RefundDraft, 'source'>): { fund_from?: 'next_payouts' } =>
  source === 'next_payouts' ? { fund_from: 'next_payouts' } : {}

function toReason({ reason }: RefundDraft): { reason?: string } {
  const line = oneLine(reason)
  return line === '' ? {} : { reason: line }
}

/** The plan of the creation, for the page before it. The creation locks the rate. */
async function planDraft(deps: RefundPageDeps, state: PaymentWithAttempts, draft: RefundDraft) {
  const { currency } = state.payment.confirmed ?? state.payment.amount
  const plan = await planRefund(deps, state, { amount: plainAmount(draft.amount, currency), ...toSource(draft) })
  if (oneLine(draft.reason).length > 500) throw refuseField('reason', 'must have at most 500 characters')
  return plan
}

type RefundShown = {
  readonly refund: Refund
  readonly errors?: Readonly<Record<string, string>>
  readonly problem?: string | null
}

async function showRefund(
  { clock, publicUrl }: RefundPageDeps,
  { db, tenant, frame, role }: PageCall,
  { refund, errors = {}, problem = null }: RefundShown,
): Promise<string> {
  const state = await readPayment(db, tenant, refund.paymentId)
  if (state === null) throw new SiteProblem('not_found')
  const mayPay = hasAbility(role, 'sell')
  return renderRefundPage({
    frame,
    refund,
    payment: state.payment,
    stamp: getStamp(state),
    mayPay,
    deductions: refund.fundFrom === 'next_payouts' ? await listDeductions(db, refund.id) : [],
    cancelable: mayPay && refund.status !== 'canceled' && whyRefundNotCancelable(refund.status) === null,
    errors,
    problem,
    now: new Date(clock()).toISOString(),
    publicUrl,
  })
}
