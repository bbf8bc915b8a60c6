import { z } from 'zod'
import type { Queryable, Session, Tenant } from '../../../../db/db.ts'
import { listLinks } from '../../../../db/links/link-list.ts'
import { findLink, insertLink, type LinkChanges, updateLink } from '../../../../db/links/links.ts'
import { readAgreement } from '../../../../db/merchants/agreement.ts'
import { readWallet } from '../../../../db/merchants/wallets.ts'
import { isId } from '../../../../domain/ids.ts'
import { type PaymentLink, renderLink } from '../../../../domain/link/link.ts'
import { recordCompletedLinks } from '../../../../payments/completed-links.ts'
import { answerOnce } from '../../../http/idempotency.ts'
import { Problem, refuseField } from '../../../http/problems.ts'
import { createLinkBody, type UpdateLinkBody, updateLinkBody } from '../../../links/link-fields.ts'
import { type LinkMakerDeps, makeLink, requireFuture } from '../../../links/make-link.ts'
import { defineOperation, NOTHING, WHOLE } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { listAnswer, listSchema, noCursor, pageQuery, readPage, searched } from '../lists.ts'
import { refuseLocalUrl } from '../payments/payment-create.ts'
import { linkObject } from './link-object.ts'

export type LinkOperationDeps = LinkMakerDeps & { readonly publicUrl: string }

const shown = ({ publicUrl, clock }: LinkOperationDeps, link: PaymentLink) =>
  renderLink(link, { publicUrl, now: new Date(clock()).toISOString() })

export const createPaymentLink = defineOperation({
  name: 'createPaymentLink',
  method: 'post',
  path: '/v1/payment_links',
  audited: WHOLE,
  tag: 'Payment links',
  summary: 'Create a payment link',
  description: 'Its price, currency and method cannot be changed later. Without `amount` the buyer decides.',
  scope: 'payments:write',
  idempotency: 'itself',
  body: createLinkBody,
  answers: { 201: linkObject },
  problems: [
    'amount_too_small',
    'amount_too_large',
    'currency_not_supported',
    'wallet_not_configured',
    'limit_reached',
  ],
  example: { body: { title: 'October tasting box', amount: 64, currency: 'EUR', max_payments: 50 } },
  handle: ({ caller, db, body, claim }, deps: LinkOperationDeps) =>
    answerOnce(db, { tenant: caller, claim }, async (tx) => {
      const { livemode, keyId } = caller
      const createdVia = keyId === null ? 'dashboard' : 'api'
      const { limits } = await readAgreement(tx, caller.merchantId, deps.agreement)
      const made = await makeLink(deps, body, { livemode, wallet: null, createdVia, limits })
      if ((await readWallet(tx, caller)) === null)
        throw new Problem('wallet_not_configured', 'Set the wallet that the USDC goes to, then create links.')
      const link = await insertLink(tx, caller, made)
      return { status: 201, body: shown(deps, link), headers: { location: `/v1/payment_links/${link.id}` } }
    }),
})

const listQuery = z.strictObject({
  ...pageQuery('link'),
  active: z
    .enum(['true', 'false'])
    .optional()
    .transform((text) => (text === undefined ? undefined : text === 'true')),
  reference: searched.optional(),
  search: searched.optional().meta({ description: 'Text in the title, reference, code or id.' }),
})

export const listPaymentLinks = defineOperation({
  name: 'listPaymentLinks',
  method: 'get',
  path: '/v1/payment_links',
  tag: 'Payment links',
  summary: 'List payment links, newest first',
  scope: 'payments:read',
  query: listQuery,
  answers: { 200: listSchema(linkObject) },
  example: { query: { active: 'true' } },
  handle: async ({ caller, db, query }, deps: LinkOperationDeps) => {
    const { active, reference, search } = query
    const page = readPage(query)
    const found = await listLinks(db, caller, { filters: { active, reference, search }, page })
    if (found === null) throw noCursor(page)
    return listAnswer(
      found.rows.map((link) => shown(deps, link)),
      found.hasMore,
    )
  },
})
export const readPaymentLink = defineOperation({
  name: 'readPaymentLink',
  method: 'get',
  path: '/v1/payment_links/{id}',
  tag: 'Payment links',
  summary: 'Read a payment link',
  scope: 'payments:read',
  params: idPath,
  answers: { 200: linkObject },
  handle: async ({ caller, db, params }, deps: LinkOperationDeps) => ({
    status: 200,
    body: shown(deps, await findOwnLink(db, caller, params.id)),
  }),
})

export const updatePaymentLink = defineOperation({
  name: 'updatePaymentLink',
  method: 'patch',
  path: '/v1/payment_links/{id}',
  audited: WHOLE,
  tag: 'Payment links',
  summary: 'Change, pause or resume a payment link',
  description: 'Existing payments stay as they are.',
  scope: 'payments:write',
  params: idPath,
  body: updateLinkBody,
  answers: { 200: linkObject },
  problems: ['not_possible_now'],
  example: { body: { title: 'November tasting box', max_payments: null } },
  handle: async ({ caller, db, params, body }, deps: LinkOperationDeps) => {
    if (caller.livemode) refuseLocalUrl('success_url', body.success_url ?? undefined)
    requireFuture(body.expires_at, deps.clock())
    return {
      status: 200,
      body: shown(deps, await changeOwnLink(deps, { db, tenant: caller }, { id: params.id, body })),
    }
  },
})
export const deactivatePaymentLink = defineOperation({
  name: 'deactivatePaymentLink',
  method: 'post',
  path: '/v1/payment_links/{id}/deactivate',
  audited: NOTHING,
  tag: 'Payment links',
  summary: 'Pause a payment link',
  description: 'It takes no payments until it is set active again. Payments in progress continue.',
  scope: 'payments:write',
  params: idPath,
  answers: { 200: linkObject },
  handle: async ({ caller, db, params }, deps: LinkOperationDeps) => ({
    status: 200,
    body: shown(deps, await changeOwnLink(deps, { db, tenant: caller }, { id: params.id, body: { active: false } })),
  }),
})

/** One `resource_missing` (404) for malformed and unknown ids, and for links of other accounts. */
async function findOwnLink(db: Queryable, tenant: Tenant, id: string): Promise<PaymentLink> {
  const link = isId('link', id) ? await findLink(db, tenant, id) : null
  if (link === null) throw new Problem('resource_missing', 'There is no such payment link.')
  return link
}

/**
 * Also throws if the state forbids the change. Lowering the limit to the number of paid payments completes the link.
 */
function changeOwnLink(
  { publicUrl, clock }: LinkOperationDeps,
  { db, tenant }: { readonly db: Session; readonly tenant: Tenant },
  { id, body }: { id: string; body: UpdateLinkBody },
): Promise<PaymentLink> {
  return db.transaction(async (tx) => {
    const link = await findOwnLink(tx, tenant, id)
    if (body.active === true && link.stoppedAt !== null)
      throw new Problem('not_possible_now', 'An operator stopped this link. Contact support to learn why.')
    if (link.price.amount !== null && body.prefill?.includes('amount'))
      throw refuseField('prefill', 'must not have amount where the amount is fixed')
    await updateLink(tx, tenant, { id, changes: readChanges(body) })
    if (body.max_payments !== undefined)
      await recordCompletedLinks(tx, { ids: [id], at: new Date(clock()).toISOString(), publicUrl })
    return findOwnLink(tx, tenant, id)
  })
}

function readChanges(body: UpdateLinkBody): LinkChanges {
  const { success_url: successUrl, max_payments: maxPayments, expires_at: expiresAt } = body
  const { active, title, description, reference, metadata, prefill, inactive_message: inactiveMessage } = body
  return {
    ...(active !== undefined && { active }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(reference !== undefined && { reference }),
    ...(metadata !== undefined && { metadata }),
    ...(successUrl !== undefined && { successUrl }),
    ...(prefill !== undefined && { prefill }),
    ...(maxPayments !== undefined && { maxPayments }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(inactiveMessage !== undefined && { inactiveMessage }),
  }
}
