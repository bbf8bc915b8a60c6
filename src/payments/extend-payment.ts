import type { Queryable } from '../db/db.ts'
import { canBeExtended, EXTENSION_MS } from '../domain/payment/requests.ts'
import { createNote } from '../domain/timeline.ts'
import { type Change, type ChangeContext, changePayment } from './change-payment.ts'

/** Gives the buyer more time, once. False if the payment has closed, or was extended before. */
export async function extendPayment(db: Queryable, context: ChangeContext, id: string): Promise<boolean> {
  let isExtended = false
  const change: Change = ({ state: { payment }, addNote, setPayment }) => {
    isExtended = canBeExtended(payment, context.now())
    if (!isExtended) return
    const expiresAt = new Date(Date.parse(payment.expiresAt) + EXTENSION_MS).toISOString()
    addNote(createNote('payment.expiry_extended', { expires_at: expiresAt }))
    setPayment({ expiresAt, expiryExtended: true })
  }
  await changePayment(db, context, { id, change })
  return isExtended
}
