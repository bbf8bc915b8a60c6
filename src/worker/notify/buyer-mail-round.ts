import { createHash } from 'node:crypto'
import { countUntried, insertMail } from '../../db/accounts/mail.ts'
import type { Db, Tx } from '../../db/db.ts'
import { countMailsOfToday, noteMailbox, type OwedBuyerMail, takeBuyerMails } from '../../db/payments/buyer-mails.ts'
import { getMailbox } from '../../domain/account/email.ts'
import type { BuyerMailFacts } from '../../domain/notification/buyer-mail.ts'
import type { NotificationLanguage } from '../../domain/notification/channel.ts'
import { BUYER_MAIL_MS, isMailedToBuyer, MOST_BUYER_MAILS_A_DAY } from '../../domain/payment/buyer.ts'
import { checkoutUrl } from '../../domain/payment/payment-object.ts'
import { MOST_UNTRIED } from './notice-round.ts'

/** Fewer than for the notices of accounts: however many payments succeed, notices always have room. */
const MOST_BEFORE_NOTICES = MOST_UNTRIED / 2

export type BuyerMailRoundDeps = {
  readonly db: Db
  /** Seals what the mail round opens. */
  readonly seal: (text: string, id: string) => string
  readonly newMailId: () => string
  readonly publicUrl: string
  readonly composeBuyerMail: (
    facts: BuyerMailFacts,
    language: NotificationLanguage,
  ) => { readonly subject: string; readonly text: string }
  /** Unix milliseconds. */
  readonly clock: () => number
}

const PER_ROUND = 20

/**
 * Writes a mail to the buyer for each fact of which the buyer is to be notified. Mail and mark are one transaction: none
 * is written twice, and none is forgotten. Returns the number of facts, or null if they must wait because of untried
 * mails.
 */
export function createBuyerMailRound(deps: BuyerMailRoundDeps): () => Promise<number | null> {
  return () =>
    deps.db.transaction(async (tx) => {
      const now = new Date(deps.clock()).toISOString()
      if ((await countUntried(tx, { now, most: MOST_BEFORE_NOTICES })) === MOST_BEFORE_NOTICES) return null
      const taken = await takeBuyerMails(tx, { now, limit: PER_ROUND })
      for (const owed of taken) await writeMail(deps, tx, owed)
      return taken.length
    })
}

async function writeMail(deps: BuyerMailRoundDeps, tx: Tx, owed: OwedBuyerMail): Promise<void> {
  const { email: to, is_member: isMember, due_at: dueAt } = owed
  const now = deps.clock()
  const age = now - Date.parse(dueAt)
  const mailbox = createHash('sha256').update(getMailbox(to)).digest()
  const today = { mailbox, now: new Date(now).toISOString(), most: MOST_BUYER_MAILS_A_DAY }
  const sentToday = await countMailsOfToday(tx, today)
  if (!isMailedToBuyer({ livemode: tx.livemode, isMember, sentToday, age })) return
  await noteMailbox(tx, owed, mailbox)
  const facts = {
    kind: owed.fact === 'paid' ? ('receipt' as const) : ('refund' as const),
    paymentId: owed.payment_id,
    url: checkoutUrl(deps.publicUrl, owed.checkout_token),
    shop: owed.shop,
    supportEmail: owed.support_email,
    amount: { minor: owed.units, currency: owed.units_currency },
    description: owed.description,
    reference: owed.reference,
    invoice: owed.invoice,
    currency: owed.currency,
    testMode: !tx.livemode,
  }
  const id = deps.newMailId()
  const sealed = deps.seal(JSON.stringify({ to, ...deps.composeBuyerMail(facts, owed.language) }), id)
  const expiresAt = new Date(now + BUYER_MAIL_MS).toISOString()
  await insertMail(tx, { id, sealed, now: new Date(now).toISOString(), expiresAt })
}
