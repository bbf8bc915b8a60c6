import type { Request } from 'express'
import type { Db } from '../../../db/db.ts'
import { readPaymentByToken } from '../../../db/payments/payments.ts'
import { linkStatus, linkUrl, occupiesPlace, type PaymentLink } from '../../../domain/link/link.ts'
import { checkoutUrl } from '../../../domain/payment/payment-object.ts'

/**
 * The token of the payment's checkout, in the browser that took a place of a limited link. The cookie's path is the
 * link's, so no other page receives it.
 */

const COOKIE = 'pinrail_payment'
/** Seconds. It only leads to the payment, which decides how long it is open or visible. */
const AGE = 604_800

type Deps = { readonly db: Db; readonly publicUrl: string; readonly clock: () => number }

/** `path`: that of the checkout. */
export function placeCookie({ publicUrl }: Deps, { code }: PaymentLink, path: string): string {
  const { pathname, protocol } = new URL(linkUrl(publicUrl, code))
  const token = path.split('/').at(-1) ?? ''
  const secure = protocol === 'https:' ? '; Secure' : ''
  return `${COOKIE}=${token}; Path=${pathname}; Max-Age=${AGE}; HttpOnly; SameSite=Lax${secure}`
}

/**
 * Null if this browser occupies no place, or if the link has several places and one is free: then the buyer may want
 * another payment.
 */
export async function ownPlace(deps: Deps, link: PaymentLink, request: Request): Promise<string | null> {
  const token = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{1,64})(?:;|$)`).exec(request.get('cookie') ?? '')?.[1]
  if (token === undefined || link.maxPayments === null) return null
  const isFull = linkStatus(link, new Date(deps.clock()).toISOString()) === 'sold_out'
  if (link.maxPayments > 1 && !isFull) return null
  const found = await readPaymentByToken(deps.db, token)
  if (found?.payment.paymentLink !== link.id || !occupiesPlace(found.payment.status)) return null
  return new URL(checkoutUrl(deps.publicUrl, token)).pathname
}
