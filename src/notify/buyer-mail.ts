import { formatAmount, type Money } from '../domain/money.ts'
import type { BuyerMailFacts } from '../domain/notification/buyer-mail.ts'
import type { NotificationLanguage } from '../domain/notification/channel.ts'
import { getItemAmount, type Invoice } from '../domain/payment/invoice.ts'
import { plainLine } from '../domain/text.ts'
import { type BuyerSpeech, createBuyerSpeech } from './words/languages.ts'

/** Composes what a buyer reads. The words of the merchant cannot turn or hide those of the mail. */
export function composeBuyerMail(
  facts: BuyerMailFacts,
  language: NotificationLanguage,
): { subject: string; text: string } {
  const words = createBuyerSpeech(language)
  const isReceipt = facts.kind === 'receipt'
  const merchant = isolate(facts.shop)
  const amount = formatMoney(facts.amount)
  const subject = `${words(isReceipt ? 'receiptFrom' : 'refundFrom', { merchant })}: ${amount}`
  const parts = [
    words(isReceipt ? 'paid' : 'refunded', { merchant, amount }),
    ...(isReceipt ? [] : [words('bank')]),
    listFacts(facts, words).join('\n'),
    `${words(isReceipt ? 'receipt' : 'page')}:\n${isReceipt ? `${facts.url}/receipt` : facts.url}`,
    ...(facts.supportEmail === null ? [] : [`${words('question')}\n${facts.supportEmail}`]),
    words('why'),
  ]
  return { subject: facts.testMode ? `(test) ${subject}` : subject, text: `${parts.join('\n\n')}\n` }
}

function listFacts(facts: BuyerMailFacts, words: BuyerSpeech): string[] {
  const { description, reference, invoice, currency, paymentId } = facts
  const item = (each: Invoice['items'][number]): string =>
    `${each.quantity} × ${isolate(each.name)}: ${formatMoney(getItemAmount(each, currency))}`
  return [
    ...(description === null ? [] : [isolate(description)]),
    ...(invoice?.items ?? []).map(item),
    ...(reference === null ? [] : [`${words('order')}: ${isolate(reference)}`]),
    ...(invoice?.number ? [`${words('invoice')}: ${isolate(invoice.number)}`] : []),
    ...(invoice?.taxId ? [`${words('merchantTaxId')}: ${isolate(invoice.taxId)}`] : []),
    `${words('payment')}: ${paymentId}`,
  ]
}

const formatMoney = (money: Money): string => `${formatAmount(money)} ${money.currency}`

/** Letters of scripts that are read from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** A mail program makes a link of each of these: the dot in a name of a host, and the end of a scheme. */
const LINK_SIGNS = /[.\u3002\uff0e\uff61](?=\p{L})|:(?=\/\/)/gu

/**
 * Keeps text of one direction from reordering text of the other (UAX 9: first strong isolate). The mail comes from the
 * platform's address, so a blank after each dot keeps the merchant's words from leading to a page.
 */
function isolate(text: string): string {
  const line = plainLine(text).replace(LINK_SIGNS, '$& ')
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line
}
