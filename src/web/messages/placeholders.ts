/**
 * The placeholders of the checkout's messages: `npm run docs` writes this file from en.json, so that the compiler checks the
 * values of each message. A plural counts with a number; the others are texts, or elements of a page.
 */
export type Placeholders<Text> = {
  'page.footer': { platform: Text }
  'title.pay': { amount: Text; merchant: Text }
  'title.state': { state: Text; amount: Text; merchant: Text }
  'title.checking_with': { partner: Text }
  'title.receipt': { merchant: Text }
  'title.receipt_test': { merchant: Text }
  'stop.since': { time: Text }
  'stop.until': { time: Text }
  'shop.back': { merchant: Text }
  'phone.code': { amount: Text; merchant: Text }
  'offline.last': { time: Text }
  'about.seconds': { count: number }
  'about.minutes': { count: number }
  'pick.more': { count: Text }
  'pick.hint.converted': { currency: Text; about: Text }
  'pick.hint.banking_app': { about: Text }
  'pick.hint.card': { about: Text }
  'pick.hint.device_wallet': { about: Text }
  'pick.hint.online_wallet': { about: Text }
  'pick.hint.bank_transfer': { about: Text }
  'pick.hint.upi': { about: Text }
  'pick.hint.usdc': { about: Text }
  'pick.open_at': { partner: Text }
  'refused.country': { way: Text; country: Text }
  'refused.currency': { way: Text }
  'refused.amount_too_small': { way: Text; limit: Text }
  'refused.amount_too_large': { way: Text; limit: Text }
  'down.heading': { partner: Text }
  'down.lead': { partner: Text }
  'down.way': { way: Text }
  'down.back': { partner: Text }
  'why.currency': { currency: Text }
  'why.converted': { partner: Text; country: Text; currency: Text }
  'why.only_in': { places: Text }
  'none.only_pinned': { why: Text; merchant: Text }
  'none.any': { country: Text }
  'none.advice': { merchant: Text }
  'country.paying_from': { country: Text }
  'confirm.lead.banking_app': { partner: Text; amount: Text }
  'confirm.lead.card': { partner: Text }
  'confirm.lead.device_wallet': { partner: Text; amount: Text }
  'confirm.lead.online_wallet': { partner: Text; amount: Text }
  'confirm.lead.bank_transfer': { partner: Text }
  'confirm.charged_in': { currency: Text }
  'confirm.about': { amount: Text }
  'confirm.continue': { partner: Text }
  'confirm.continue_amount': { partner: Text; amount: Text }
  'confirm.continue_about': { partner: Text; amount: Text }
  'plan.banking_app': { partner: Text }
  'plan.banking_app.why': { about: Text }
  'plan.card': { partner: Text }
  'plan.card.why': { about: Text }
  'plan.device_wallet': { partner: Text }
  'plan.device_wallet.why': { about: Text }
  'plan.online_wallet': { partner: Text }
  'plan.online_wallet.why': { about: Text }
  'plan.bank_transfer': { partner: Text }
  'plan.bank_transfer.why': { about: Text }
  'plan.upi.why': { partner: Text; about: Text }
  'plan.usdc.why': { about: Text }
  'plan.identity.why': { partner: Text }
  'plan.receipt.measured': { about: Text }
  'mail.use': { days: Text }
  'mail.share': { merchant: Text }
  'mail.goes': { address: Text }
  'unpaid.left': { partner: Text }
  'unpaid.expired': { partner: Text }
  'closing.left': { minutes: number }
  'closing.at': { time: Text }
  'declined.heading.reversed': { partner: Text }
  'declined.heading.partner_unavailable': { partner: Text }
  'declined.lead.declined': { partner: Text }
  'declined.lead.insufficient_funds': { partner: Text }
  'declined.lead.reversed': { partner: Text }
  'declined.again': { partner: Text }
  'elsewhere.heading': { partner: Text }
  'elsewhere.open': { partner: Text }
  'elsewhere.continue': { partner: Text; amount: Text }
  'handoff.heading': { partner: Text }
  'handoff.button': { partner: Text }
  'finish.heading': { partner: Text }
  'finish.lead': { amount: Text; partner: Text }
  'finish.waiting': { partner: Text }
  'finish.confirms': { partner: Text }
  'finish.again': { partner: Text }
  'finish.rest': { amount: Text; partner: Text }
  'returning.heading': { partner: Text }
  'returning.slow.heading': { partner: Text }
  'returning.back': { partner: Text }
  'returning.confirms': { partner: Text }
  'returning.check': { partner: Text }
  'upi.heading.desktop': { amount: Text }
  'upi.lead.android': { amount: Text }
  'upi.lead.ios': { amount: Text }
  'upi.shows': { name: Text }
  'upi.open': { amount: Text }
  'upi.partner_page': { partner: Text }
  'upi.code': { amount: Text; merchant: Text }
  'usdc.heading': { amount: Text }
  'usdc.code': { amount: Text; merchant: Text }
  'verification.lead': { partner: Text }
  'verification.until': { time: Text }
  'verification.finish': { partner: Text }
  'verification.continue': { partner: Text }
  'verification.private': { partner: Text }
  'progress.lead': { partner: Text; amount: Text }
  'progress.lead.confirming': { partner: Text }
  'progress.paid.why': { amount: Text; partner: Text }
  'progress.sent': { merchant: Text }
  'checking.partner_hold': { partner: Text }
  'done.lead': { merchant: Text }
  'done.over.heading': { extra: Text }
  'done.over.lead': { partner: Text; amount: Text; price: Text }
  'done.over.note': { extra: Text }
  'done.over.ask': { merchant: Text }
  'done.twice.lead': { merchant: Text; amount: Text; other: Text }
  'done.late.counts': { merchant: Text }
  'receipt.with_at': { way: Text; partner: Text }
  'item.tax': { percent: Text }
  'receipt.code': { merchant: Text }
  'receipt.by': { platform: Text }
  'expired.until': { time: Text }
  'refund.coming': { amount: Text }
  'refund.coming.way': { way: Text }
  'refund.done': { amount: Text }
  'refund.failed': { amount: Text }
  'refund.failed.ask': { merchant: Text }
  'receipt.refund.value': { amount: Text; time: Text }
  'closed.again': { merchant: Text }
  'link.og': { merchant: Text }
  'link.amount': { currency: Text }
  'link.bounds': { least: Text; most: Text }
  'link.left_of': { left: Text; all: Text }
  'link.wrong.format': { currency: Text }
  'link.wrong.too_small': { limit: Text }
  'link.wrong.too_large': { limit: Text }
  'link.wrong.ambiguous': { amount: Text; plain: Text }
}
