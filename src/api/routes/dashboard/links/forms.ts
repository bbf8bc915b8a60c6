import { randomUUID } from 'node:crypto'
import { readPaymentTerms } from '../../../../db/merchants/agreement.ts'
import { readShop } from '../../../../db/merchants/merchants.ts'
import type { PaymentLink } from '../../../../domain/link/link.ts'
import { formatAmount, type Money } from '../../../../domain/money.ts'
import { listCurrencies } from '../../../../domain/partner/offering.ts'
import { renderEditLink, renderNewLink } from '../../../../web/dashboard/links/link-edit.tsx'
import type { LinkDraft } from '../../../../web/links/link-draft.ts'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { createAmountHint } from '../../../links/hints.ts'
import { draftLink, EMPTY_DRAFT, explainToForm, linkForm, toLinkBody } from '../../../links/link-form.ts'
import { renderPreview } from '../../links/preview.ts'
import { createPaymentLink, updatePaymentLink } from '../../v1/links/links.ts'
import { onceField } from '../fields.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
import { findOwn, type LinkPageDeps } from './own.ts'

export function formPages(deps: LinkPageDeps): Page[] {
  return [...newPages(deps), ...editPages(deps)]
}

type Errors = Readonly<Record<string, string>>

function newPages(deps: LinkPageDeps): Page[] {
  const show = async ({ frame, db, tenant }: PageCall, draft: LinkDraft, errors: Errors): Promise<string> => {
    const { wallet, feePercent } = await readPaymentTerms(db, tenant, deps.agreement)
    const hint = await createAmountHint(deps, draft, feePercent)
    const form = { draft, currencies: listCurrencies(deps.offering, null), errors, hint, once: randomUUID() }
    return renderNewLink({ frame, ...form, hasWallet: wallet !== null, publicUrl: deps.publicUrl })
  }
  return [
    definePage({
      method: 'get',
      path: '/dashboard/links/new',
      needs: 'sell',
      handle: async (call) => {
        const { copy } = call.query
        const draft = copy === undefined ? EMPTY_DRAFT : toDraft(await findOwn({ ...call, params: { id: copy } }))
        return { html: await show(call, draft, {}), frame: 'holds' }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/links',
      needs: 'sell',
      form: linkForm.extend({ once: onceField }),
      handle: async (call) => {
        const { once: key, ...draft } = call.form
        const request = { operation: createPaymentLink, body: toLinkBody(draft), once: key }
        const made = await catchRefusal(runOperation(deps, call, request))
        if (!(made instanceof Problem)) return { to: `/dashboard/links/${made.id}`, done: 'link_made' }
        return { status: 400, html: await show(call, draft, explainToForm(made, draft)), frame: 'holds' }
      },
    }),
    definePage({
      method: 'get',
      path: '/dashboard/links/preview',
      needs: 'sell',
      handle: async ({ request, tenant, db }) => {
        const draft = linkForm.safeParse({ ...request.query }).data ?? EMPTY_DRAFT
        const link = draftLink(draft, { livemode: tenant.livemode, wallet: null, anonymous: false })
        const shop = await readShop(db, tenant.merchantId)
        return { html: await renderPreview(deps, request, { link, shop }), frame: 'held' }
      },
    }),
  ]
}

function editPages(deps: LinkPageDeps): Page[] {
  const show = (
    { frame }: PageCall,
    link: PaymentLink,
    { draft, errors }: { draft: LinkDraft; errors: Errors },
  ): string => renderEditLink({ frame, link, draft, errors, publicUrl: deps.publicUrl })
  return [
    definePage({
      method: 'get',
      path: '/dashboard/links/:id/edit',
      needs: 'sell',
      handle: async (call) => {
        const link = await findOwn(call)
        return { html: show(call, link, { draft: toDraft(link), errors: {} }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/links/:id',
      needs: 'sell',
      form: linkForm,
      handle: async (call) => {
        const link = await findOwn(call)
        // The kind of price cannot change, and decides which fields can be prefilled.
        const draft = { ...call.form, kind: toDraft(link).kind }
        const request = { operation: updatePaymentLink, params: { id: link.id }, body: readChanges(link, draft) }
        const changed = await catchRefusal(runOperation(deps, call, request))
        if (!(changed instanceof Problem)) return { to: `/dashboard/links/${link.id}`, done: 'link_saved' }
        return { status: 400, html: show(call, link, { draft, errors: explainToForm(changed, draft) }) }
      },
    }),
  ]
}

/** Empty fields are cleared. An unchanged expiry day keeps its hour. */
function readChanges(link: PaymentLink, draft: LinkDraft) {
  const { title, prefill = [], expires_at = null, description = null, reference = null, ...more } = toLinkBody(draft)
  const { success_url = null, max_payments = null, inactive_message = null } = more
  const changes = { title, description, reference, success_url, prefill, max_payments, inactive_message }
  return draft.expires_at.trim() === toDraft(link).expires_at ? changes : { ...changes, expires_at }
}

function toDraft(link: PaymentLink): LinkDraft {
  const { amount, min, max, currency } = link.price
  const text = (money: Money | null): string => (money === null ? '' : formatAmount(money))
  return {
    wallet: '',
    title: link.title,
    description: link.description ?? '',
    kind: amount === null ? 'open' : 'fixed',
    amount: text(amount),
    min_amount: text(min),
    max_amount: text(max),
    currency,
    provider: link.provider ?? '',
    max_payments: link.maxPayments === null ? '' : String(link.maxPayments),
    expires_at: link.expiresAt?.slice(0, 10) ?? '',
    reference: link.reference ?? '',
    success_url: link.successUrl ?? '',
    inactive_message: link.inactiveMessage ?? '',
    prefill_amount: link.prefill.includes('amount') ? 'on' : '',
    prefill_reference: link.prefill.includes('reference') ? 'on' : '',
  }
}
