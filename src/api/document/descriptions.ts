/**
 * Descriptions of fields and parameters whose schema has none, by the end of their path: `settlement.rate` is preferred
 * to `rate`, and `ApiKey.status` (schema or operation first) to both. Ranges and defaults are in the schemas.
 */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Every object
  id: 'The id, which never changes.',
  object: 'The kind of this object.',
  livemode: 'True for real money, false for a test.',
  data: 'The items of this page.',
  has_more: 'True if there are more items after this page.',
  created_at: 'When it was created (RFC 3339, UTC).',
  updated_at: 'When it changed last (RFC 3339, UTC).',
  deleted: 'Always true: it no longer exists.',
  metadata: 'Your own keys and values. They come back as you sent them. Not for secrets.',
  description: 'Your own text. Buyers see that of a payment or a link.',
  reference:
    'Your own name for it, such as an order number. It can be searched and need not be unique. Invisible characters are removed.',
  amount: 'The amount in major units of the currency: 49.90 is forty-nine euros and ninety cents.',
  currency: 'The currency (ISO 4217).',
  'limit.amount': 'The limit in major units of its currency.',
  expires_at: 'When it ends (RFC 3339, UTC). Null: never.',
  name: 'A name for people.',
  title: 'The name that buyers see at the top of the page.',
  email: 'The e-mail address.',

  // The account
  application: 'What you said of yourself. Null: nothing yet.',
  web_address: 'Where you sell.',
  sells: 'What you sell, and to whom, in your words.',
  applied_at: 'When you last described it (RFC 3339, UTC).',
  status_since: 'Since when it has this status (RFC 3339, UTC).',
  'limits.payment_usdc': 'What one payment can be worth.',
  'limits.day_usdc': 'What the payments of a day (UTC) can be worth.',
  'limits.open_payments': 'How many payments can be `created` or `pending` at once.',
  'used.day_usdc': 'What the payments of today are worth.',
  'used.open_payments': 'How many payments are `created` or `pending` now.',

  // Parameters of lists
  'listPayments.status': 'Only payments in one of these states, comma separated.',
  'exportPayments.status': 'Only payments in one of these states, comma separated.',
  'listPayments.provider': 'Only payments that were pinned to this partner, or paid through it.',
  'exportPayments.provider': 'Only payments that were pinned to this partner, or paid through it.',
  'listPayments.currency': 'Only payments in this currency (ISO 4217).',
  'exportPayments.currency': 'Only payments in this currency (ISO 4217).',
  'listPayments.reference': 'Only payments with exactly this reference.',
  'exportPayments.reference': 'Only payments with exactly this reference.',
  'listPaymentLinks.reference': 'Only links with exactly this reference.',
  'listPayments.tx_hash': 'Only the payment that this transaction paid out.',
  'exportPayments.tx_hash': 'Only the payment that this transaction paid out.',
  'listPayments.payment_link': 'Only payments that this link created.',
  'exportPayments.payment_link': 'Only payments that this link created.',
  'created[gte]': 'Only what was created at this time or later (RFC 3339). With curl add -g: it reads brackets itself.',
  'created[lt]': 'Only what was created before this time (RFC 3339). With curl add -g: it reads brackets itself.',
  'listPaymentLinks.active': '`true`: only links that take payments. `false`: only the others.',
  'listEvents.type': 'Only events of this type.',
  'listEvents.payment': 'Only events about this payment.',
  'listDeliveries.status': 'Only deliveries in this state.',
  'listDeliveries.event': 'Only the delivery of this event.',
  'redeliverEvent.event': 'The id of the event.',
  'redeliverFailed.since': 'Events from this time on (RFC 3339), at most 30 days back.',
  'DeliveryDiagnosis.cause':
    'The mistake of your endpoint. `none`: it accepts the event now. `response`: its response is about something else than the signature. `unknown`: no usual mistake explains it. `sealed_secret`: the platform cannot read the secret, so your endpoint is not the cause.',
  'listAuditLog.action': 'Only entries of this action, such as `setWallet`.',
  'listAuditLog.actor': 'Only entries of this person or key.',
  'readQuote.provider': 'The partner through which the buyer would pay. If absent, the buyer picks.',
  'exportPayments.format':
    'The form of the file: `json`, `csv`, or `excel`, which is CSV with the byte order mark that Excel needs.',
  'exportStatement.format':
    'The form of the response: `json`, `csv`, or `excel`, which is CSV with the byte order mark that Excel needs.',
  'exportStatement.period': 'A month such as 2026-11, or a year such as 2026.',
  'withdrawInvitation.email': 'The e-mail address that was invited.',

  // Payments
  'Payment.status': 'Where the payment is. The guide “Payment states” has each state and what follows.',
  status_reason: 'Why it is in this state, for programs. Null: `status` says enough.',
  exception: 'What is unusual about the payment, such as `underpaid` or `paid_late`. Null: nothing.',
  'Payment.amount': 'The price in major units of the currency, as a number. Use `amount_decimal` for arithmetic.',
  amount_decimal: 'The amount in major units, as text with the decimals of the currency: never rounded.',
  amount_minor: 'The amount in minor units of the currency (ISO 4217): cents for EUR, yen for JPY.',
  'Payment.provider': 'The partner that you pinned. Null: the buyer picks.',
  'createPayment.provider': 'Pins the partner through which the buyer pays. If absent, the buyer picks.',
  'createPaymentLink.provider': 'Pins the partner through which buyers pay. If absent, buyers pick.',
  'previewRoutes.provider': 'The pinned partner. Without it the buyer picks.',
  provider_used: 'The partner through which the buyer pays or paid. Null: not chosen yet.',
  method_used: 'The method with which the buyer pays or paid, such as `card` or `upi`. Null: not chosen yet.',
  fallback: 'When the pinned partner cannot serve the buyer: `picker` offers the other ways, `none` offers nothing.',
  customer_email:
    'The e-mail address of the buyer, for the receipt and for mails about refunds. In responses, null: you have none; that of a buyer who typed it is here only if the buyer agreed. It is in no event, and is deleted 180 days after it was given.',
  'listPayments.customer_email': 'Only payments whose buyer you know by exactly this e-mail address.',
  'exportPayments.customer_email': 'Only payments whose buyer you know by exactly this e-mail address.',
  customer_tax_id: 'The tax id of the buyer, for the receipt. It is in no event, and is deleted after 180 days.',
  invoice_number: 'Your invoice number, for the receipt.',
  merchant_tax_id: 'Your tax id, for the receipt.',
  items: 'What is bought, for the checkout and the receipt. The items must add up to the amount.',
  'items.name': 'The name of the item.',
  'items.quantity': 'How many of it.',
  'items.unit_amount':
    'The price of one, tax included, in major units of the currency. It can be 0, and below 0 for a discount.',
  'items.tax_percent': 'The tax in the price, in percent. Null: not named.',
  success_url: 'Where the buyer goes after paying. `{PAYMENT_ID}` in it is replaced by the id. Null: nowhere.',
  cancel_url: 'Where the buyer goes without paying. `{PAYMENT_ID}` in it is replaced by the id. Null: nowhere.',
  checkout_url: 'The page on which the buyer pays. Anybody who has the URL can pay and see the receipt.',
  expires_in: 'How long the payment can be paid, in seconds.',
  'Payment.expires_at':
    'Until when the buyer can pay (RFC 3339, UTC). Money that arrives later can still count: the payment then has the exception `paid_late`.',
  quote:
    'What you would receive at the rate when the payment was created. The rate is locked when the money is confirmed.',
  'quote.rate': 'USDC for one unit of the payment’s currency.',
  'settlement.rate': 'USDC for one unit of the currency in `rate_from`. Null: not locked yet.',
  rate_from: 'The currency of which one unit is worth `rate`: the one that the partner charged. Null: not locked yet.',
  rate_to: 'What `rate` is in: USDC. Null: not locked yet.',
  rate_source: 'Where the rate comes from. Null: not locked yet.',
  'quote.net_usdc_estimate': 'USDC that you would receive at this rate, after the fee.',
  'quote.expires_at': 'Until when this estimate is current (RFC 3339, UTC).',
  settlement: 'The USDC of the payment: what it was converted to, the fee, and the transfer to your wallet.',
  confirmed:
    'What the buyer paid, as the partner confirmed it, in the currency that it charged: a price in EUR is charged in INR by UPI. Null: nothing yet.',
  'confirmed.amount': 'The amount in major units, as text with the decimals of the currency.',
  gross_usdc: 'USDC before the fee. Null: not converted yet.',
  fee_usdc: 'The fee in USDC. Null: not converted yet.',
  fee_percent: 'The fee in percent of the converted USDC.',
  net_usdc: 'USDC that you receive, the reserve included. Null: not converted yet.',
  reserve: 'What is held back of `net_usdc` for chargebacks. Null: nothing is.',
  'reserve.percent': 'What is held back, in percent of `net_usdc`.',
  'reserve.days': 'For how many days after the payout it is held back.',
  'reserve.held_usdc': 'What is held back now. Chargebacks are taken from it.',
  'reserve.next_release_on': 'The day (UTC) from which the next part of it is released. Null: nothing is held back.',
  'reserve.due_on': 'The day (UTC) from which it is released. Null: not settled yet.',
  'reserve.released_usdc': 'What was released to your wallet.',
  'reserve.release': 'The last release of it, which is one transfer for all reserves of a day. Null: none.',
  deduction:
    'What the payout lacks because it pays for a refund of another payment (`fund_from: next_payouts`). Null: nothing.',
  'deduction.usdc': 'What was deducted of `net_usdc`.',
  'deduction.refund': 'The refund that it pays for.',
  'deduction.release': 'The release that pays it to you, because the refund has ended without taking it. Null: none.',
  rate_locked_at: 'When the rate was locked (RFC 3339, UTC). Null: not yet.',
  chain: 'The blockchain.',
  chain_id: 'The id of the blockchain (EIP-155): 137 is Polygon.',
  token: 'The contract of the USDC token.',
  destination: 'Your wallet, as it was when the payment was created.',
  tx_hash: 'The transaction of the transfer. Null: not sent yet.',
  log_index: 'The place of the transfer’s log in its block. Null: not final yet.',
  block_number: 'The block of the transfer. Null: not final yet.',
  finalized_at:
    'The time of the block of the transfer, which is final: it cannot be undone (RFC 3339, UTC). Statements go by it. Null: not yet.',
  explorer_url: 'The transfer at a block explorer. Null: not sent yet.',
  delayed_since:
    'Since when the settlement has been taking longer than it should (RFC 3339, UTC). Null: it is not, or it has ended.',
  attempts: 'Orders that the buyer opened at partners, oldest first.',
  'attempts.provider': 'The partner of the order.',
  'attempts.status':
    'What the partner last said of the order, such as `open`, `declined` or `paid`. `opening`: it has not said anything yet.',
  partner_reference: 'The partner’s own reference for the order. Null: the partner has not given one.',
  failure_code: 'Why the partner declined. Null: it did not, or gave no reason.',
  refunded_amount:
    'What refunds have given back to the buyer, in major units of the currency that the partner charged.',
  refundable_amount:
    'What a new refund can be of, in the same unit: what was paid, less refunds and chargebacks. `0.00` before the settlement, when only the whole payment can be refunded, and for a payment in USDC.',
  fund_from:
    'Where the money comes from. `wallet`: you pay in USDC. `next_payouts`: the USDC is deducted from your next payouts. `payment`: the payment is not settled, and its own money goes back, without a fee.',
  refunds_count: 'The number of refunds, in any state.',

  // Disputes
  'Dispute.payment': 'The payment that the buyer disputes.',
  'Dispute.provider': 'The method whose partner reports the dispute.',
  partner_dispute: 'The partner’s id of the dispute. Name it when you contact support.',
  'Dispute.kind': '`inquiry`: the bank only asks, and takes no money yet. `chargeback`: it takes the money.',
  'Dispute.status': 'Where the dispute is: the guide “Disputes” has each status and what follows.',
  'Dispute.reason': 'Why the buyer disputes the payment, in one word for all partners.',
  reason_text: 'The partner’s own words or code. Null: it gives none.',
  'Dispute.amount': 'The disputed amount in major units, as a number. Use `amount_decimal` for arithmetic.',
  'Dispute.currency': 'The currency in which the buyer was charged (ISO 4217).',
  evidence_through:
    '`api`: you can submit evidence here. `partner`: the partner takes it only in its own dashboard, where the platform answers for you.',
  evidence_due_at: 'Until when evidence can be submitted (RFC 3339, UTC). Null: the partner names no time.',
  evidence_submitted_at: 'When the partner first showed submitted evidence (RFC 3339, UTC). Null: it did not.',
  answer: 'What you last asked the partner for. Null: nothing.',
  'answer.kind': '`evidence`, or `accept`, which loses the dispute.',
  'answer.status':
    '`sending`: the partner has not confirmed it yet. `sent`: the partner has it. `refused`: it had no effect.',
  'answer.submit': 'False: the partner stores the evidence, and it can still be changed.',
  'answer.fields': 'The names of the texts and files. Their content is deleted here once the partner has it.',
  'answer.refusal': 'The partner’s words. Null: it did not refuse.',
  cost: 'What the dispute costs.',
  'cost.taken': 'What the partner has taken and not given back, in major units of `currency`.',
  'cost.fee':
    'What the partner charges for the dispute, in major units of `fee_currency`. Null: it does not say. The platform pays it.',
  'cost.fee_currency': 'The currency of `fee` (ISO 4217). Null: there is no fee.',
  'cost.from_reserve_usdc': 'What it took after the payout of the reserve of its payment, at the locked rate.',
  'cost.from_platform_usdc': 'The rest at the locked rate, which the platform bears.',
  opened_at: 'When it was opened, by the partner (RFC 3339, UTC). Null: it does not say.',
  'Dispute.closed_at': 'When it ended (RFC 3339, UTC). Null: it is open.',
  'listDisputes.status': 'Only disputes in this status.',
  'listDisputes.payment': 'Only disputes about this payment.',
  'submitDisputeEvidence.submit':
    'True: the bank gets the evidence, and it cannot be changed any more. False: the partner only stores it.',
  'submitDisputeEvidence.files': 'PDF, JPEG or PNG files in base64, by what they show. At most 4 MB together.',

  // Refunds
  'Refund.payment': 'The payment whose buyer gets the money back.',
  'Refund.number': 'Its number among the refunds of the payment, from 1.',
  'Refund.amount': 'What the buyer gets back, in major units, as a number. Use `amount_decimal` for arithmetic.',
  'Refund.currency': 'The currency in which the buyer was charged (ISO 4217).',
  'Refund.status': 'Where the refund is: the guide “Refunds” has each state and what follows.',
  'Refund.status_reason': 'Why it failed, for programs. Null: it did not.',
  'Refund.reason': 'Your own words. Null: none.',
  'createRefund.fund_from':
    '`wallet`: you pay in USDC. `next_payouts`: the USDC is deducted from your next payouts, within the limit that an owner of the account has set. Absent: `wallet`, or before the settlement the payment’s own money.',
  'createRefund.reason': 'Your own words, such as why the buyer gets money back.',
  funding: 'How you pay for the refund in USDC. Null if `fund_from` is `payment`.',
  required_usdc:
    'USDC that must be final at the address, or be deducted from payouts that are final, until `expires_at`.',
  'funding.received_usdc':
    'USDC that is final at the address, or that payouts which are final lack. What is too much or too late goes back to you.',
  'funding.wallet':
    'Your wallet, as it was when the payment was created. USDC that the refund does not take goes back to it.',
  'funding.address':
    'Where the USDC goes. Null for a moment after the creation: read the refund again. Null also for `next_payouts`.',
  eip681: 'The transfer as a link that wallets open and scan (EIP-681). Null while there is no address.',
  'funding.rate': 'USDC for one unit of the currency, locked when the refund was created.',
  'funding.rate_source': 'Where the rate comes from.',
  'funding.expires_at': 'Until when the USDC must be final (RFC 3339, UTC).',
  typed_data:
    'What your wallet signs to pay without gas (EIP-712): an EIP-3009 transfer to `address`. Null while there is no address.',
  'typed_data.domain': 'The token, as the signature names it.',
  'typed_data.types': 'The fields of the message.',
  primaryType: 'The type of the message.',
  'typed_data.message': 'The transfer: amounts in millionths of a USDC, times in seconds since 1970.',
  signed_at: 'When your signature was taken (RFC 3339, UTC). Null: it was not.',
  'funding.refusal':
    'Why the token refuses the transfer that your wallet has signed, for programs. It is tried again every 30 seconds, and you can sign again. Null: it does not, as far as known.',
  'fundRefund.signature': 'The signature of `funding.typed_data`, as your wallet returned it.',
  'funding.tx_hash': 'The last transfer to the address. Null: none.',
  'Refund.partner_reference': 'The key under which the partner is asked for the refund. Null: it was not asked.',
  returned_tx_hash: 'The last transfer of USDC back to `funding.wallet`. Null: none.',
  'Refund.funded_at': 'When the USDC was final (RFC 3339, UTC). Null: not yet.',
  'Refund.succeeded_at': 'When the partner had given the money back (RFC 3339, UTC). Null: not yet.',
  'Refund.failed_at': 'When the refund failed (RFC 3339, UTC). Null: it did not.',
  'listRefunds.status': 'Only refunds in this state.',
  'listPaymentRefunds.status': 'Only refunds in this state.',
  'listRefunds.payment': 'Only refunds of this payment.',
  payment_link: 'The link that created the payment. Null: the API did.',
  paid_at: 'When the partner confirmed the money (RFC 3339, UTC). Null: not yet.',
  succeeded_at:
    'When the payment succeeded: the USDC was known to be final in your wallet (RFC 3339, UTC). The time on the chain is `settlement.finalized_at`. Null: not yet.',
  failed_at: 'When the payment failed (RFC 3339, UTC). Null: it did not.',
  canceled_at: 'When the payment was canceled (RFC 3339, UTC). Null: it was not.',
  version: 'Counts the changes of the payment: a larger one is newer.',

  chargeback: 'What has changed after the settlement. Only events about chargebacks have it.',
  'chargeback.attempt': 'The order of the buyer’s money, one of `attempts`.',
  'chargeback.amount':
    'What the partner has taken back, or what is there again, in major units of its currency, as text with the decimals of the currency.',
  'chargeback.lost': 'What is missing of the order’s money in all, after this change.',
  'chargeback.currency': 'The currency of both amounts: what the partner charged in, or `USDC`.',

  // Links
  'PaymentLink.code': 'The end of the link’s URL. It is not secret.',
  'PaymentLink.url': 'The page of the link, to be shared.',
  active: 'True if buyers can pay with it.',
  min_amount: 'The smallest amount that a buyer can enter, in major units. Null: the minimum of the methods.',
  max_amount: 'The largest amount that a buyer can enter, in major units. Null: the maximum of the methods.',
  'PaymentLink.provider': 'The partner that every payment of the link is pinned to. Null: buyers pick.',
  prefill: 'The fields that the URL of the link can prefill: `amount`, `reference`.',
  max_payments: 'How many payments the link takes. Null: any number.',
  inactive_message: 'What buyers see while the link takes no payments. Null: a standard text.',
  created_via: 'Where it was created: `api`, `dashboard`, or the public page.',

  // Events, webhooks, deliveries
  timestamp: 'When it happened (RFC 3339, UTC).',
  api_version: 'The version of the API that the object has.',
  'data.object': 'The object as it was when the event happened.',
  'data.object.object': 'The kind of the object.',
  'WebhookEndpoint.url': 'Where events are sent.',
  'WebhookEndpointWithSecret.url': 'Where events are sent.',
  'createWebhookEndpoint.url': 'Where events are sent: an https URL on a public host.',
  'updateWebhookEndpoint.url': 'Where events are sent: an https URL on a public host.',
  enabled_events: 'The types of events that are sent; `*` for all, including future ones.',
  'WebhookEndpoint.status': '`enabled` or `disabled`.',
  'WebhookEndpointWithSecret.status': '`enabled` or `disabled`.',
  disabled_at: 'Since when nothing is sent (RFC 3339, UTC). Null: it is enabled.',
  disabled_reason:
    'Why nothing is sent: you disabled it, it failed for five days, or it responded with 410. Null: it is enabled.',
  failing_since: 'The first failure since the last success (RFC 3339, UTC). Null: the last delivery arrived.',
  previous_secret_expires_at: 'Until when the previous secret also signs (RFC 3339, UTC). Null: only one secret signs.',
  event: 'The id of the event.',
  endpoint: 'The id of the endpoint.',
  'Delivery.type': 'The type of the event.',
  'Delivery.status':
    '`pending`: it will be tried again. `delivered`: it arrived. `exhausted`: every attempt failed. `disabled`: the endpoint was disabled.',
  'Delivery.attempts': 'How often it was tried.',
  last_attempt_at: 'When it was tried last (RFC 3339, UTC). Null: not yet.',
  delivered_at: 'When it arrived (RFC 3339, UTC). Null: it has not.',
  'log.number': 'The number of the attempt, from 1.',
  'log.at': 'When the attempt was made (RFC 3339, UTC).',
  duration_ms: 'How long the attempt took, in milliseconds.',
  response_status: 'The HTTP status of the response. Null: there was no response.',
  response_headers: 'Headers of the response.',
  error: 'Why there was no response. Null: there was one.',

  // Timeline
  'TimelineEntry.at': 'When it happened (RFC 3339, UTC).',
  'TimelineEntry.kind': 'What happened, for programs.',
  from_status: 'The state before. Null: the state did not change.',
  to_status: 'The state after. Null: the state did not change.',
  'TimelineEntry.actor': 'Who did it: `merchant`, `buyer`, `partner`, `system` or `operator`.',
  'TimelineEntry.data': 'Ids and figures about it. Null: none.',

  // Receipts
  format: 'The version of the receipt’s form.',
  claims: 'What the receipt says.',
  payment: 'The id of the payment.',
  treasury: 'The wallet that paid.',
  'claims.destination': 'The wallet that was paid.',
  'claims.net_usdc': 'The USDC that was paid.',
  nonce: 'The nonce of the authorization (EIP-3009), which only this payment has.',
  'claims.block_number': 'The block of the transfer.',
  block_hash: 'The hash of that block.',
  block_time: 'The time of that block (RFC 3339, UTC).',
  'claims.tx_hash': 'The transaction of the transfer.',
  tx_index: 'The place of the transaction in its block.',
  'claims.log_index': 'The place of the transfer’s log in its block.',
  issuer: 'Who signed the receipt.',
  issued_at: 'When it was signed (RFC 3339, UTC).',
  proof: 'Proves the transfer by the block’s hash alone.',
  header: 'The header of the block (RLP, hexadecimal).',
  nodes: 'The nodes of the receipt trie from its root to the transaction (RLP, hexadecimal).',
  logs: 'The logs of the transfer.',
  'logs.address': 'The contract that wrote the log.',
  topics: 'The topics of the log.',
  'logs.data': 'The data of the log.',
  signature: 'The signature over the claims (JWS, Ed25519).',
  protected: 'The protected header (base64url).',
  payload: 'The signed claims (base64url).',
  'signature.signature': 'The signature (base64url).',

  // Partners, quotes, routes
  'Provider.name': 'The partner’s name in the API.',
  label: 'The partner’s name for people.',
  methods: 'The methods with which buyers pay there.',
  countries: 'The countries of the buyers that it serves (ISO 3166 alpha-2).',
  currencies: 'The currencies of prices that it takes.',
  'currencies.code': 'The currency (ISO 4217).',
  decimals: 'The decimals of an amount in this currency.',
  charge_currency: 'The currency in which the buyer is charged, whatever the price. Null: that of the price.',
  minimum: 'The smallest amount.',
  maximum: 'The largest amount.',
  measured_seconds:
    'Seconds from the moment at which the buyer continues to the final USDC in your wallet: of half of the payments (`p50`), and of 95 in 100 (`p95`), over the last 30 days. Null: there were not more than 50 payments with the provider.',
  estimated_seconds: 'Seconds from the buyer’s confirmation to the money.',
  p50: 'Half of the payments are faster (seconds).',
  p95: '95 of 100 payments are faster (seconds).',
  identity_check: 'True if the partner may ask the buyer to prove who they are.',
  'Quote.provider': 'The partner. Null: the buyer picks.',
  'Quote.rate': 'USDC for one unit of the currency.',
  'Quote.rate_source': 'Where the rate comes from.',
  gross_usdc_estimate: 'USDC before the fee.',
  fee_usdc_estimate: 'The fee in USDC.',
  net_usdc_estimate: 'USDC that you would receive, after the fee.',
  'Quote.expires_at': 'Until when the quote is current (RFC 3339, UTC). It is an estimate, not a promise.',
  pinned: 'The pinned way to pay, if it can be offered. Null: none is pinned, or it cannot.',
  provider: 'The partner.',
  method: 'The method.',
  'charge.amount': 'What the buyer is charged, in major units of its currency.',
  'charge.currency': 'The currency in which the buyer is charged (ISO 4217).',
  pinned_refused: 'Why the pinned way cannot be offered. Null: it can, or none is pinned.',
  reason: 'Why it is not offered, for programs.',
  message: 'The reason for people.',
  limit: 'The limit that the amount violates. Null: there is another reason.',
  offers: 'The ways that the buyer can choose, the best first.',
  refused: 'The ways that are not offered, and why.',
  country: 'The buyer’s country (ISO 3166 alpha-2). Without it, no way to pay is refused because of the country.',

  // API keys
  'ApiKey.name': 'Your name for the key.',
  'createApiKey.name': 'Your name for the key, such as the program that uses it.',
  last4: 'The last four characters of the key.',
  scopes: 'What the key can do.',
  allowed_ips: 'IP addresses and networks (CIDR) from which the key works. Null: all.',
  'ApiKey.expires_at': 'When the key stops working (RFC 3339, UTC). Null: never.',
  'ApiKeyWithSecret.expires_at': 'When the key stops working (RFC 3339, UTC). Null: never.',
  revoked_at: 'When the key was revoked (RFC 3339, UTC). Null: it was not.',

  // Settings
  address: 'The wallet: an address on Polygon.',
  set_at: 'When the wallet was set (RFC 3339, UTC).',
  proved: 'True if a signature proved who owns the wallet.',
  'Brand.name': 'The name that buyers see.',
  'setBrand.name': 'The name that buyers see.',
  color: 'The color of the checkout. Null: Pinrail’s own.',
  support_email: 'Where buyers can write to you. Null: nowhere.',
  logo_url: 'The picture that buyers see. Null: none.',

  // Notifications
  kind: 'The kind of the channel.',
  events: 'The events that it is notified of.',
  language: 'The language of its messages.',
  quiet_hours: 'The hours in which it gets only what is urgent. Null: none.',
  'quiet_hours.from': 'The beginning of the quiet hours (HH:MM).',
  'quiet_hours.to': 'The end of the quiet hours (HH:MM).',
  time_zone: 'The time zone of the quiet hours (IANA).',
  off_since: 'Since when it accepts nothing (RFC 3339, UTC). Null: it works.',
  off_reason: 'Why it accepts nothing. Null: it works.',
  'NotificationMessage.kind': 'What the message is about.',
  kinds: 'Everything that a message about several things is about.',
  failure: 'Why it could not be sent. Null: it was sent, or waits.',
  sent_at: 'When it was sent (RFC 3339, UTC). Null: not yet.',

  // Team
  seen_at: 'When the person last used the dashboard (RFC 3339, UTC). Null: never.',
  passkeys: 'How many passkeys the person has.',
  'Invitation.expires_at': 'Until when the invitation can be accepted (RFC 3339, UTC).',
  withdrawn: 'Always true: it can no longer be accepted.',
  action: 'What was done, such as `setWallet`.',
  'AuditEntry.data': 'Ids and settings of the change.',
  ip: 'The address that the request came from.',
  'AuditEntry.at': 'When it was done (RFC 3339, UTC).',

  // Files
  from: 'The first day of the statement.',
  by: 'What a line covers: `day` or `month`.',
  payments: 'How many payments succeeded.',
  converted_usdc: 'Their USDC before the fee.',
  reserved_usdc: 'The USDC that was held back of these payments.',
  deducted_usdc: 'The USDC that payouts lack because they pay for refunds.',
  released_usdc: 'The USDC of earlier reserves, and of deductions that refunds have not taken, that was released.',
  charged_back_usdc: 'The USDC that chargebacks took of your reserves. Below zero if more was won back.',
  received_usdc: 'The USDC that arrived in your wallet.',
  refunds: 'How many refunds succeeded.',
  refunds_usdc: 'The USDC that they took. What a refund does not take goes back to your wallet, and is not counted.',
  total_usdc: '`received_usdc` less `refunds_usdc`. Below zero if refunds took more.',
  'lines.fee_usdc': 'The fee in USDC.',
  'sum.fee_usdc': 'The fee in USDC.',
  sum: 'All lines together.',

  // Problems
  'Problem.title': 'The kind of the problem, for people.',
  'Problem.status': 'The HTTP status.',
  instance: 'Identifies this occurrence of the problem.',
  param: 'The field or parameter that is wrong.',
  errors: 'Everything that is wrong.',
  pointer: 'The field (JSON Pointer, RFC 6901).',
  'errors.code': 'What is wrong with it, for programs.',
  'errors.message': 'What is wrong with it, for people.',
  request_id: 'Identifies the request. Include it when you contact support.',
}

export type Json = { [name: string]: unknown }
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function describeFields<T extends object>(document: T): T {
  const { components, paths } = document as { components?: { schemas?: Json }; paths?: Json }
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) describeIn(schema, [name])
  for (const operation of Object.values(paths ?? {}).flatMap((item) => Object.values(item as Json)))
    describeOperation(operation as Json)
  return document
}

function describeOperation(operation: Json): void {
  const owner = String(operation['operationId'])
  for (const parameter of (operation['parameters'] ?? []) as Json[])
    parameter['description'] ??= findDescription([owner, String(parameter['name'])])
  const answers = Object.values((operation['responses'] ?? {}) as Json) as Json[]
  for (const body of [operation['requestBody'], ...answers])
    if (isObject(body))
      for (const { schema } of Object.values((body['content'] ?? {}) as Json) as Json[]) describeIn(schema, [owner])
}

/** `path`: the schema or operation, and the field names down to here. */
function describeIn(schema: unknown, path: readonly string[]): void {
  if (!isObject(schema)) return
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Json)) {
    const at = [...path, name]
    if (isObject(field) && field['$ref'] === undefined) field['description'] ??= findDescription(at)
    describeIn(field, at)
  }
  for (const choices of [schema['anyOf'], schema['oneOf'], schema['allOf']])
    for (const choice of (choices ?? []) as unknown[]) describeIn(choice, path)
  describeIn(schema['items'], path)
}

/** The most specific description, or undefined. */
function findDescription(path: readonly string[]): string | undefined {
  for (let from = 0; from < path.length; from++) {
    const found = DESCRIPTIONS[path.slice(from).join('.')] ?? DESCRIPTIONS[`${path[0]}.${path.slice(from).join('.')}`]
    if (found !== undefined) return found
  }
  return undefined
}
