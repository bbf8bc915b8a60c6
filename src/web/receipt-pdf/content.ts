import { getAmounts } from '../checkout/amounts.ts'
import type { Checkout } from '../checkout/checkout.ts'
import {
  listInvoiceFacts,
  listReceiptItems,
  moneyFacts,
  paidAt,
  paidWith,
  printedAddresses,
  receiptStatus,
  statementName,
} from '../checkout/screens/receipt-lines.tsx'
import type { Words } from '../messages/words.ts'

/** `own`: a text without a translation, such as a name. Its first letter sets its direction. */
export type SheetText = { readonly text: string; readonly own?: boolean }
export type SheetFact = { readonly name: string; readonly value: SheetText }

/** The content of a receipt's sheet, the same as on its page. */
export type ReceiptContent = {
  readonly title: string
  readonly shop: string
  /** The name of the merchant's logo; null if it has none that a PDF can contain. */
  readonly logo: string | null
  readonly supportEmail: string | null
  readonly heading: string
  /** The last line is the sum. */
  readonly lines: readonly { readonly what: SheetText; readonly amount: string }[]
  readonly facts: readonly SheetFact[]
  readonly check: { readonly heading: string; readonly text: string; readonly url: string }
  readonly foot: {
    readonly text: string
    readonly addresses: string
    /** The name of the platform's logo; null if it has none that a PDF can contain. */
    readonly logo: string | null
  }
  /** True if no money moved: the sheet has TEST across it. */
  readonly isTest: boolean
  /** ISO 8601. */
  readonly paidAt: string
}

export function getReceiptContent(checkout: Checkout, words: Words): ReceiptContent {
  const { t } = words
  const { platform, payment, shop } = checkout
  const { price, paid, extra } = getAmounts(checkout)
  const isTest = !payment.livemode
  const { transfer } = payment
  const statement = statementName(checkout)
  return {
    title: t(isTest ? 'title.receipt_test' : 'title.receipt', { merchant: shop.name }),
    shop: shop.name,
    logo: fileForPdf(shop.logo),
    supportEmail: shop.supportEmail,
    heading: t(isTest ? 'receipt.test' : 'receipt.heading'),
    lines: [
      ...listReceiptItems(checkout, words).map(({ name, note, amount }) => ({
        what: name === null ? { text: t('receipt.price') } : { text: joinNote(name, note), own: true },
        amount: words.money(amount),
      })),
      ...(extra === null ? [] : [{ what: { text: t('receipt.extra') }, amount: words.money(extra) }]),
      { what: { text: t('receipt.paid') }, amount: words.money(paid ?? price) },
    ],
    facts: [
      { name: t('receipt.with'), value: { text: paidWith(checkout, words) } },
      { name: t('receipt.on'), value: { text: words.moment(paidAt(checkout), 'long') } },
      ...listInvoiceFacts(checkout, words).map(({ name, value }) => ({ name, value: { text: value, own: true } })),
      ...(statement === null ? [] : [{ name: t('receipt.statement'), value: { text: statement, own: true } }]),
      ...moneyFacts(checkout, words).map(({ name, value }) => ({ name, value: { text: value } })),
      { name: t('done.payment'), value: { text: payment.id, own: true } },
      { name: t('receipt.status'), value: { text: receiptStatus(checkout, words) } },
      ...(transfer === null ? [] : [{ name: t('receipt.transfer'), value: { text: transfer.txHash, own: true } }]),
    ],
    check: { heading: t('receipt.check'), text: t('receipt.check.text'), url: `${checkout.url}/receipt` },
    foot: {
      text: t('receipt.by', { platform: platform.name }),
      addresses: printedAddresses(checkout).join('  '),
      logo: fileForPdf(platform.logo),
    },
    isTest,
    paidAt: paidAt(checkout),
  }
}

const joinNote = (name: string, note: string | null): string => (note === null ? name : `${name} (${note})`)

const fileForPdf = (logo: string | null): string | null => (logo !== null && /\.(?:png|jpg)$/.test(logo) ? logo : null)
