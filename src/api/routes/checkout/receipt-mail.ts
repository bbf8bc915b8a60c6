import type { Response } from 'express'
import type { z } from 'zod'
import type { Queryable } from '../../../db/db.ts'
import { noteBuyerLanguage, saveTypedAddress } from '../../../db/payments/buyers.ts'
import { readEmail } from '../../../domain/account/email.ts'
import { isClosed } from '../../../domain/payment/payment.ts'
import type { Checkout } from '../../../web/checkout/checkout.ts'
import { renderCheckout } from '../../../web/checkout/page.tsx'
import type { Words } from '../../../web/messages/words.ts'
import { sendPage } from '../buyer.ts'
import type { mailForm } from './forms.ts'

/** Anybody with the link can type an address. Mails go to it only once money is confirmed, and it is fixed by then. */

type KeepDeps = { readonly db: Queryable; readonly clock: () => number }
type Typed = z.output<typeof mailForm>

/** Stores the address and the language of the page. Returns false if the buyer typed something else than an address. */
export async function keepAddress(
  { db, clock }: KeepDeps,
  { payment, receiptMail }: Checkout,
  { typed, language }: { typed: Typed; language: string },
): Promise<boolean> {
  const isOver = isClosed(payment.status) && payment.status !== 'succeeded'
  if (typed.email.trim() === '' || receiptMail.isFixed || isOver) {
    if (receiptMail.to !== null) await noteBuyerLanguage(db, payment.id, language)
    return true
  }
  const email = readEmail(typed.email)
  if (email === null) return false
  const source = typed.share === undefined ? 'private' : 'shared'
  await saveTypedAddress(db, { paymentId: payment.id, email, source, language, at: new Date(clock()).toISOString() })
  return true
}

/** Shows the page again with what the buyer typed. */
export function sendWrongAddress(
  response: Response,
  words: Words,
  { checkout, typed }: { checkout: Checkout; typed: Typed },
): void {
  response.status(422)
  sendPage(
    response,
    words,
    renderCheckout({ ...checkout, receiptMail: { ...checkout.receiptMail, wrong: typed.email } }, words),
  )
}
