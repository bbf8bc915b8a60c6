import { z } from 'zod'
import type { PaymentLink } from '../../domain/link/link.ts'
import { many, sql, type Tx } from '../db.ts'
import { type ChangeContext, changePaymentIn } from '../payments/payment-changes.ts'

const idRow = z.object({ id: z.string() })

/**
 * Makes room on a locked link with a limit, and returns false if there is none. A payment that its buyer has not
 * continued for five minutes does not count as a place (`link_places_taken`), and expires here if another buyer needs
 * the place: the oldest first, each only while it has no order at a partner. Calls `gone` with each, in the
 * transaction.
 */
export async function makeRoom(
  tx: Tx,
  context: ChangeContext,
  { link, gone }: { link: PaymentLink; gone: (paymentId: string) => void },
): Promise<boolean> {
  if (link.maxPayments === null) return true
  const idle = await many(
    tx,
    idRow,
    sql`select id from payment where payment_link = ${link.id} and gives_way(status, created_at) order by created_at, id`,
  )
  let missing = link.paymentsCount + idle.length + 1 - link.maxPayments
  for (const { id } of idle) {
    if (missing <= 0) break
    await changePaymentIn(tx, context, {
      id,
      work: async (work) => {
        // Read under its lock: its buyer might have pressed Continue since.
        if (work.state.payment.status !== 'created') return
        work.set({ closedAs: 'expired' })
        work.because({ why: 'gave_way', data: {} })
        missing -= 1
        gone(id)
      },
    })
  }
  return missing <= 0
}
