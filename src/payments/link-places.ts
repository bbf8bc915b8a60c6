import type { Tx } from '../db/db.ts'
import { listIdlePayments } from '../db/links/places.ts'
import type { PaymentLink } from '../domain/link/link.ts'
import { type ChangeContext, changeLockedPayment } from './change-payment.ts'

/**
 * Makes room on a locked link with a limit, and returns false if there is none. A payment that its buyer has not
 * continued for five minutes does not count as a place (`link_places_taken`), and expires here if another buyer needs
 * the place: the oldest first, each only while it has no order at a partner. Calls `onExpired` with each, in the
 * transaction.
 */
export async function makeRoom(
  tx: Tx,
  context: ChangeContext,
  { link, onExpired }: { readonly link: PaymentLink; readonly onExpired: (paymentId: string) => void },
): Promise<boolean> {
  if (link.maxPayments === null) return true
  const idle = await listIdlePayments(tx, link.id)
  let missing = link.paymentsCount + idle.length + 1 - link.maxPayments
  for (const id of idle) {
    if (missing <= 0) break
    await changeLockedPayment(tx, context, {
      id,
      change: ({ state, setPayment, setCause }) => {
        // Read under its lock: its buyer might have pressed Continue since.
        if (state.payment.status !== 'created') return
        setPayment({ closedAs: 'expired' })
        setCause({ why: 'gave_way', data: {} })
        missing -= 1
        onExpired(id)
      },
    })
  }
  return missing <= 0
}
