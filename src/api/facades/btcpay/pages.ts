import { type RequestHandler, Router } from 'express'
import type { Queryable } from '../../../db/db.ts'
import { findOpenCheckout } from '../../../db/payments/payments.ts'
import { isId } from '../../../domain/ids.ts'
import { checkoutUrl } from '../../../domain/payment/payment-object.ts'
import { BTCPAY_SCRIPT } from '../../../web/assets.ts'
import { SHOP_SCRIPT_HEADERS } from '../../../web/page-headers.ts'
import { Problem } from '../../http/problems.ts'
import { BTCPAY_PATH } from './btcpay.ts'
import { listScopes } from './permissions.ts'

/** The addresses that a browser opens at a BTCPay Server. Each of them leads to a page of the platform. */

export type BtcpayPageDeps = { readonly db: Queryable; readonly publicUrl: string }

export function createBtcpayPages(deps: BtcpayPageDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get(`${BTCPAY_PATH}/i/:id`, leadToCheckout(deps, ''))
  router.get(`${BTCPAY_PATH}/i/:id/frame`, leadToCheckout(deps, '/frame'))
  router.get(`${BTCPAY_PATH}/modal/btcpay.js`, sendScript)
  router.get(`${BTCPAY_PATH}/api-keys/authorize`, leadToNewKey(deps))
  return router
}

/**
 * Plugins compose this address from the id of an invoice. Ids are in receipts and addresses of shops too, so a payment
 * that has ended, or that no shop created here, is not shown by its id: its checkout address alone shows it.
 */
function leadToCheckout({ db, publicUrl }: BtcpayPageDeps, view: string): RequestHandler {
  return async (request, response) => {
    const id = String(request.params['id'])
    const token = isId('payment', id) ? await findOpenCheckout(db, id, 'btcpay') : null
    if (token === null) throw new Problem('resource_missing', 'There is no such open invoice.')
    response.redirect(303, `${checkoutUrl(publicUrl, token)}${view}`)
  }
}

/** BTCPay sends a new key to the address in the query. Here a person copies it, so no link can collect keys. */
function leadToNewKey({ publicUrl }: BtcpayPageDeps): RequestHandler {
  return (request, response) => {
    const { permissions, applicationName } = request.query
    const asked = [permissions].flat().filter((one) => typeof one === 'string')
    const to = new URL('/dashboard/keys/new', publicUrl)
    to.searchParams.set('scopes', listScopes(asked).join(','))
    if (typeof applicationName === 'string') to.searchParams.set('name', applicationName.slice(0, 100))
    response.redirect(303, to.href)
  }
}

const sendScript: RequestHandler = (_request, response) => {
  response.set(SHOP_SCRIPT_HEADERS).send(BTCPAY_SCRIPT)
}
