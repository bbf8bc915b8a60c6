/** Written by `npm run docs` from the OpenAPI document. */

export type PaymentEvent = { id: string; type: "payment.succeeded" | "payment.created" | "payment.processing" | "payment.failed" | "payment.expired" | "payment.canceled" | "payment.under_review" | "payment.refunded" | "payment.chargeback" | "payment.chargeback_won"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: Payment } }

export type Payment = { id: string; object: "payment"; livemode: boolean; status: ("created" | "pending" | "processing" | "under_review" | "settling" | "succeeded" | "failed" | "expired" | "canceled" | "refunded" | (string & {})); status_reason: (string | null); exception: (string | null); amount: number; amount_decimal: string; amount_minor: number; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})); provider: (("wallet_app" | "card_partner" | "local_partner" | (string & {})) | null); provider_used: (string | null); method_used: (string | null); fallback: ("picker" | "none" | (string & {})); description: (string | null); reference: (string | null); metadata: Record<string, string>; customer_email?: (string | null) | undefined; customer_tax_id?: (string | null) | undefined; invoice_number: (string | null); merchant_tax_id: (string | null); items: ({ name: string; quantity: number; unit_amount: string; tax_percent: (string | null) })[]; success_url: (string | null); cancel_url: (string | null); checkout_url: string; quote: { rate: string; rate_source: string; net_usdc_estimate: string; expires_at: string }; settlement: { confirmed: ({ amount: string; amount_minor: number; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) } | null); gross_usdc: (string | null); fee_usdc: (string | null); fee_percent: string; net_usdc: (string | null); reserve: ({ percent: string; days: number; held_usdc: string; due_on: (string | null); released_usdc: string; release: (string | null) } | null); deduction: ({ usdc: string; refund: string; release: (string | null) } | null); rate: (string | null); rate_from: (("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) | null); rate_to: ("USDC" | null); rate_source: (string | null); rate_locked_at: (string | null); chain: "polygon"; chain_id: number; token: string; destination: string; tx_hash: (string | null); log_index: (number | null); block_number: (number | null); finalized_at: (string | null); explorer_url: (string | null); delayed_since: (string | null) }; attempts: ({ id: string; provider: ("wallet_app" | "card_partner" | "local_partner" | "crypto" | (string & {})); status: string; partner_reference: (string | null); failure_code: (string | null); created_at: string })[]; refunded_amount: string; refundable_amount: string; refunds_count: number; payment_link: (string | null); created_at: string; updated_at: string; expires_at: string; paid_at: (string | null); succeeded_at: (string | null); failed_at: (string | null); canceled_at: (string | null); version: number; chargeback?: { attempt: string; amount: string; lost: string; currency: string } | undefined }

export type DisputeEvent = { id: string; type: "dispute.created" | "dispute.updated" | "dispute.closed"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: Dispute } }

export type Dispute = { id: string; object: "dispute"; livemode: boolean; payment: string; provider: string; partner_dispute: string; kind: ("inquiry" | "chargeback" | (string & {})); status: ("needs_response" | "under_review" | "won" | "lost" | "closed" | (string & {})); reason: ("fraudulent" | "unrecognized" | "duplicate" | "product_not_received" | "product_unacceptable" | "credit_not_processed" | "subscription_canceled" | "other" | (string & {})); reason_text: (string | null); amount: number; amount_decimal: string; amount_minor: number; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})); evidence_through: ("api" | "partner" | (string & {})); evidence_due_at: (string | null); evidence_submitted_at: (string | null); answer: ({ kind: ("evidence" | "accept" | (string & {})); status: ("sending" | "sent" | "refused" | (string & {})); submit: boolean; fields: (string)[]; refusal: (string | null); created_at: string } | null); cost: { taken: string; fee: (string | null); fee_currency: (("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) | null); from_reserve_usdc: string; from_platform_usdc: string }; opened_at: (string | null); created_at: string; updated_at: string; closed_at: (string | null); version: number }

export type RefundEvent = { id: string; type: "refund.created" | "refund.funded" | "refund.succeeded" | "refund.failed" | "refund.canceled" | "refund.expired"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: Refund } }

export type Refund = { id: string; object: "refund"; livemode: boolean; payment: string; number: number; amount: number; amount_decimal: string; amount_minor: number; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})); status: ("awaiting_funds" | "funded" | "pending" | "succeeded" | "failed" | "canceled" | "expired" | (string & {})); status_reason: (("money_gone" | "refused" | "payment_changed" | "usdc_returned" | "wallet_not_allowed" | "no_addresses" | (string & {})) | null); reason: (string | null); fund_from: ("wallet" | "next_payouts" | "payment" | (string & {})); metadata: Record<string, string>; funding: ({ required_usdc: string; received_usdc: string; wallet: string; address: (string | null); chain: "polygon"; chain_id: number; token: string; eip681: (string | null); rate: string; rate_source: string; expires_at: string; typed_data: ({ domain: { name: string; version: string; chainId: number; verifyingContract: string }; types: Record<string, ({ name: string; type: string })[]>; primaryType: "TransferWithAuthorization"; message: Record<string, string> } | null); signed_at: (string | null); refusal: (("insufficient_balance" | "invalid_signature" | "expired" | "nonce_used" | "blocked" | "paused" | "other" | (string & {})) | null); tx_hash: (string | null) } | null); partner_reference: (string | null); returned_tx_hash: (string | null); created_at: string; updated_at: string; funded_at: (string | null); succeeded_at: (string | null); failed_at: (string | null); version: number }

export type ReserveEvent = { id: string; type: "reserve.released"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: ReserveRelease } }

export type ReserveRelease = { id: string; object: "reserve_release"; livemode: boolean; due_on: string; payments: number; amount_usdc: string; wallet: string; chain_id: number; token: string; tx_hash: string; finalized_at: string; created_at: string }

export type PaymentLinkEvent = { id: string; type: "payment_link.completed"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: PaymentLink } }

export type PaymentLink = { id: string; object: "payment_link"; livemode: boolean; code: string; url: string; active: boolean; status: ("active" | "paused" | "sold_out" | "expired" | "stopped" | (string & {})); amount: (number | null); min_amount: (number | null); max_amount: (number | null); currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})); provider: (("wallet_app" | "card_partner" | "local_partner" | (string & {})) | null); title: string; description: (string | null); reference: (string | null); metadata: Record<string, string>; invoice_number: (string | null); merchant_tax_id: (string | null); items: ({ name: string; quantity: number; unit_amount: string; tax_percent: (string | null) })[]; success_url: (string | null); prefill: (("amount" | "reference" | (string & {})))[]; max_payments: (number | null); payments_count: number; expires_at: (string | null); inactive_message: (string | null); wallet: (string | null); created_via: ("api" | "dashboard" | "form" | (string & {})); completed_at: (string | null); created_at: string; updated_at: string }

export type WebhookEndpointEvent = { id: string; type: "webhook_endpoint.disabled"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: WebhookEndpoint } }

export type WebhookEndpoint = { id: string; object: "webhook_endpoint"; livemode: boolean; url: string; description: (string | null); format: ("standard" | "btcpay" | (string & {})); enabled_events: (string)[]; status: ("enabled" | "disabled" | (string & {})); disabled_at: (string | null); disabled_reason: (("merchant" | "gone" | "failing" | (string & {})) | null); failing_since: (string | null); previous_secret_expires_at: (string | null); created_at: string; updated_at: string }

export type TimelineEntry = { id: string; at: string; kind: string; from_status: (string | null); to_status: (string | null); actor: string; message: string; data: Record<string, unknown> }

export type PaymentReceipt = { object: "payment_receipt"; format: "pinrail.receipt.v1"; claims: { payment: string; livemode: boolean; chain_id: number; token: string; treasury: string; destination: string; net_usdc: string; nonce: string; block_number: number; block_hash: string; block_time: string; tx_hash: string; tx_index: number; log_index: number; issuer: string; issued_at: string }; proof: { header: string; nodes: (string)[]; logs: ({ address: string; topics: (string)[]; data: string })[] }; signature: { protected: string; payload: string; signature: string } }

export type Provider = { object: "provider"; name: ("wallet_app" | "card_partner" | "local_partner" | "crypto" | (string & {})); label: string; methods: (string)[]; countries: ((string)[] | null); currencies: ({ code: string; decimals: number })[]; charge_currency: (string | null); minimum: { amount: string; currency: string }; maximum: { amount: string; currency: string }; estimated_seconds: { p50: number; p95: number }; measured_seconds: ({ p50: number; p95: number } | null); identity_check: boolean }

export type Quote = { object: "quote"; amount_decimal: string; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})); provider: (("wallet_app" | "card_partner" | "local_partner" | (string & {})) | null); rate: string; rate_source: string; gross_usdc_estimate: string; fee_usdc_estimate: string; fee_percent: string; net_usdc_estimate: string; expires_at: string }

export type RoutePreview = { object: "route_preview"; pinned: ({ provider: ("wallet_app" | "card_partner" | "local_partner" | "crypto" | (string & {})); method: string; charge: ({ amount: string; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) } | null); estimated_seconds: { p50: number; p95: number }; measured_seconds: ({ p50: number; p95: number } | null); identity_check: boolean } | null); pinned_refused: ({ provider: ("wallet_app" | "card_partner" | "local_partner" | "crypto" | (string & {})); method: string; reason: ("country" | "currency" | "device" | "amount_too_small" | "amount_too_large" | "down" | (string & {})); message: string; limit: ({ amount: string; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) } | null) } | null); offers: ({ provider: ("wallet_app" | "card_partner" | "local_partner" | "crypto" | (string & {})); method: string; charge: ({ amount: string; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) } | null); estimated_seconds: { p50: number; p95: number }; measured_seconds: ({ p50: number; p95: number } | null); identity_check: boolean })[]; refused: ({ provider: ("wallet_app" | "card_partner" | "local_partner" | "crypto" | (string & {})); method: string; reason: ("country" | "currency" | "device" | "amount_too_small" | "amount_too_large" | "down" | (string & {})); message: string; limit: ({ amount: string; currency: ("AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR" | (string & {})) } | null) })[]; net_usdc_estimate: string }

export type Event = (PaymentEvent | DisputeEvent | RefundEvent | ReserveEvent | PaymentLinkEvent | WebhookEndpointEvent | TestEvent)

export type TestEvent = { id: string; type: "webhook.test"; timestamp: string; api_version: string; livemode: boolean; sequence: (number | null); data: { object: { object: "webhook_test" } } }

export type WebhookEndpointWithSecret = { id: string; object: "webhook_endpoint"; livemode: boolean; url: string; description: (string | null); format: ("standard" | "btcpay" | (string & {})); enabled_events: (string)[]; status: ("enabled" | "disabled" | (string & {})); disabled_at: (string | null); disabled_reason: (("merchant" | "gone" | "failing" | (string & {})) | null); failing_since: (string | null); previous_secret_expires_at: (string | null); created_at: string; updated_at: string; secret: string }

export type DeletedWebhookEndpoint = { id: string; object: "webhook_endpoint"; deleted: true }

export type Delivery = { object: "delivery"; event: string; endpoint: string; type: string; status: ("pending" | "delivered" | "exhausted" | "disabled" | (string & {})); attempts: number; created_at: string; last_attempt_at: (string | null); delivered_at: (string | null); log: ({ number: number; at: string; duration_ms: number; response_status: (number | null); response_headers: (Record<string, string> | null); response_body: (string | null); error: (string | null) })[] }

export type SentTestEvent = { object: "test_event"; event: string; endpoint: string }

export type DeliveryDiagnosis = { object: "delivery_diagnosis"; event: string; endpoint: string; cause: ("none" | "response" | "unknown" | "sealed_secret" | "clock" | "previous_secret" | "other_endpoint" | "undecoded_secret" | "parsed_body" | "signed_content" | "signature_format" | "other_headers" | (string & {})); message: string; requests: number }

export type Redelivery = { object: "redelivery"; endpoint: string; deliveries: number }

export type ApiKeyWithSecret = { id: string; object: "api_key"; livemode: boolean; name: string; last4: string; scopes: (string)[]; allowed_ips: ((string)[] | null); created_at: string; last_used_at: (string | null); expires_at: (string | null); revoked_at: (string | null); key: string }

export type ApiKey = { id: string; object: "api_key"; livemode: boolean; name: string; last4: string; scopes: (string)[]; allowed_ips: ((string)[] | null); created_at: string; last_used_at: (string | null); expires_at: (string | null); revoked_at: (string | null) }

export type LoggedRequest = { id: string; object: "request"; key: string; key_name: (string | null); method: string; path: string; status: number; duration_ms: number; code: (string | null); at: string }

export type LoggedRequestWithBodies = { id: string; object: "request"; key: string; key_name: (string | null); method: string; path: string; status: number; duration_ms: number; code: (string | null); at: string; request_body: (string | null); response_body: (string | null) }

export type Account = { id: string; object: "account"; livemode: boolean; name: string; status: ("pending" | "approved" | "rejected" | "suspended" | (string & {})); status_message: (string | null); status_since: string; payouts_held: boolean; application: ({ web_address: string; sells: string; applied_at: string } | null); fee_percent: string; reserve: { percent: string; days: number; held_usdc: string; next_release_on: (string | null) }; limits: { payment_usdc: (string | null); day_usdc: (string | null); open_payments: number }; used: { day_usdc: string; open_payments: number } }

export type Wallet = { object: "wallet"; livemode: boolean; address: (string | null); chain: "polygon"; chain_id: number; token: string; set_at: (string | null); proved: boolean; proof_text: string; change: ({ address: string; effective_at: string; proved: boolean } | null) }

export type Brand = { object: "brand"; name: string; color: (string | null); support_email: (string | null); logo_url: (string | null) }

export type Deductions = { object: "deductions"; limit_usdc: (string | null) }

export type Embedding = { object: "embedding"; origins: (string)[] }

export type NotificationChannel = { id: string; object: "notification_channel"; livemode: boolean; kind: ("email" | "telegram" | "discord" | "slack" | (string & {})); name: string; events: (string)[]; language: string; quiet_hours: ({ from: string; to: string; time_zone: string } | null); status: ("on" | "off" | "unavailable" | (string & {})); off_since: (string | null); off_reason: (string | null); waiting: number; created_at: string; updated_at: string }

export type DeletedChannel = { id: string; object: "notification_channel"; deleted: true }

export type NotificationMessage = { id: string; object: "notification_message"; kind: ("single" | "digest" | "test" | (string & {})); state: ("sending" | "sent" | "waiting" | "unknown" | "refused" | (string & {})); count: number; kinds: (string)[]; failure: (string | null); created_at: string; sent_at: (string | null) }

export type Member = { id: string; object: "member"; email: string; role: ("owner" | "developer" | "support" | "viewer" | (string & {})); seen_at: (string | null); passkeys: number }

export type DeletedMember = { id: string; object: "member"; deleted: true }

export type Invitation = { object: "invitation"; email: string; role: ("owner" | "developer" | "support" | "viewer" | (string & {})); expires_at: string }

export type WithdrawnInvitation = { object: "invitation"; email: string; withdrawn: true }

export type AuditEntry = { id: string; object: "audit_entry"; actor: string; action: string; data: Record<string, unknown>; ip: string; at: string }

export type Statement = { object: "statement"; livemode: boolean; from: string; to: string; by: ("day" | "month" | (string & {})); lines: ({ period: string; payments: number; converted_usdc: string; fee_usdc: string; reserved_usdc: string; deducted_usdc: string; released_usdc: string; charged_back_usdc: string; received_usdc: string; refunds: number; refunds_usdc: string; total_usdc: string })[]; sum: { period: string; payments: number; converted_usdc: string; fee_usdc: string; reserved_usdc: string; deducted_usdc: string; released_usdc: string; charged_back_usdc: string; received_usdc: string; refunds: number; refunds_usdc: string; total_usdc: string } }

export type Problem = { type: string; title: string; status: number; detail: string; instance: string; code: ("validation_failed" | "invalid_json" | "invalid_request" | "invalid_api_key" | "invalid_callback" | "insufficient_scope" | "ip_not_allowed" | "origin_not_allowed" | "step_up_required" | "account_not_approved" | "account_suspended" | "resource_missing" | "route_missing" | "method_not_allowed" | "request_timeout" | "payment_not_cancelable" | "receipt_not_available" | "not_possible_now" | "limit_reached" | "idempotency_key_in_use" | "body_too_large" | "unsupported_media_type" | "expectation_failed" | "amount_too_small" | "amount_too_large" | "currency_not_supported" | "wallet_not_configured" | "idempotency_key_reused" | "rate_limited" | "headers_too_large" | "internal_error" | "list_too_slow" | "temporarily_unavailable" | (string & {})); param?: string | undefined; errors?: ({ pointer: string; code: string; message: string })[] | undefined; request_id: string }

export type Operations = {
  createPayment: { query: undefined; body: { amount: (number | string); currency: "AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR"; provider?: "wallet_app" | "card_partner" | "local_partner" | undefined; description?: string | undefined; reference?: string | undefined; metadata?: Record<string, string> | undefined; customer_email?: string | undefined; customer_tax_id?: string | undefined; invoice_number?: string | undefined; merchant_tax_id?: string | undefined; items?: ({ name: string; quantity?: number | undefined; unit_amount: (number | string); tax_percent?: ((number | string) | null) | undefined })[] | undefined; success_url?: string | undefined; cancel_url?: string | undefined; expires_in?: number | undefined; fallback?: "picker" | "none" | undefined }; answer: Payment }
  listPayments: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; status?: string | undefined; provider?: "wallet_app" | "card_partner" | "local_partner" | "crypto" | undefined; currency?: string | undefined; reference?: string | undefined; customer_email?: string | undefined; tx_hash?: string | undefined; payment_link?: string | undefined; 'created[gte]'?: string | undefined; 'created[lt]'?: string | undefined; search?: string | undefined }; body: undefined; answer: { object: "list"; data: (Payment)[]; has_more: boolean } }
  readPaymentTimeline: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined }; body: undefined; answer: { object: "list"; data: (TimelineEntry)[]; has_more: boolean } }
  readPayment: { query: undefined; body: undefined; answer: Payment }
  updatePayment: { query: undefined; body: { description?: (string | null) | undefined; reference?: (string | null) | undefined; metadata?: (Record<string, string> | null) | undefined; customer_email?: (string | null) | undefined }; answer: Payment }
  cancelPayment: { query: undefined; body: undefined; answer: Payment }
  readPaymentReceipt: { query: undefined; body: undefined; answer: PaymentReceipt }
  listDisputes: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; status?: "needs_response" | "under_review" | "won" | "lost" | "closed" | undefined; payment?: string | undefined }; body: undefined; answer: { object: "list"; data: (Dispute)[]; has_more: boolean } }
  readDispute: { query: undefined; body: undefined; answer: Dispute }
  submitDisputeEvidence: { query: undefined; body: { submit?: boolean | undefined; explanation?: string | undefined; product_description?: string | undefined; customer_name?: string | undefined; customer_email?: string | undefined; customer_ip?: string | undefined; billing_address?: string | undefined; access_activity_log?: string | undefined; service_date?: string | undefined; shipping_address?: string | undefined; shipping_carrier?: string | undefined; shipping_date?: string | undefined; shipping_tracking_number?: string | undefined; refund_policy_disclosure?: string | undefined; refund_refusal_explanation?: string | undefined; cancellation_rebuttal?: string | undefined; duplicate_charge_explanation?: string | undefined; files?: { receipt?: string | undefined; customer_communication?: string | undefined; customer_signature?: string | undefined; shipping_documentation?: string | undefined; service_documentation?: string | undefined; refund_policy?: string | undefined; cancellation_policy?: string | undefined; other?: string | undefined } | undefined }; answer: Dispute }
  acceptDispute: { query: undefined; body: undefined; answer: Dispute }
  createRefund: { query: undefined; body: { amount?: (number | string) | undefined; fund_from?: "wallet" | "next_payouts" | undefined; reason?: string | undefined; metadata?: Record<string, string> | undefined }; answer: Refund }
  listPaymentRefunds: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; status?: "awaiting_funds" | "funded" | "pending" | "succeeded" | "failed" | "canceled" | "expired" | undefined }; body: undefined; answer: { object: "list"; data: (Refund)[]; has_more: boolean } }
  listRefunds: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; status?: "awaiting_funds" | "funded" | "pending" | "succeeded" | "failed" | "canceled" | "expired" | undefined; payment?: string | undefined }; body: undefined; answer: { object: "list"; data: (Refund)[]; has_more: boolean } }
  readRefund: { query: undefined; body: undefined; answer: Refund }
  fundRefund: { query: undefined; body: { signature: string }; answer: Refund }
  cancelRefund: { query: undefined; body: undefined; answer: Refund }
  createPaymentLink: { query: undefined; body: { currency: "AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR"; amount?: (number | string) | undefined; min_amount?: (number | string) | undefined; max_amount?: (number | string) | undefined; provider?: "wallet_app" | "card_partner" | "local_partner" | undefined; title: string; description?: string | undefined; reference?: string | undefined; metadata?: Record<string, string> | undefined; invoice_number?: string | undefined; merchant_tax_id?: string | undefined; items?: ({ name: string; quantity?: number | undefined; unit_amount: (number | string); tax_percent?: ((number | string) | null) | undefined })[] | undefined; success_url?: string | undefined; prefill?: ("amount" | "reference")[] | undefined; max_payments?: number | undefined; expires_at?: string | undefined; inactive_message?: string | undefined }; answer: PaymentLink }
  listPaymentLinks: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; active?: "true" | "false" | undefined; reference?: string | undefined; search?: string | undefined }; body: undefined; answer: { object: "list"; data: (PaymentLink)[]; has_more: boolean } }
  readPaymentLink: { query: undefined; body: undefined; answer: PaymentLink }
  updatePaymentLink: { query: undefined; body: { active?: boolean | undefined; title?: string | undefined; description?: (string | null) | undefined; reference?: (string | null) | undefined; metadata?: (Record<string, string> | null) | undefined; success_url?: (string | null) | undefined; prefill?: ("amount" | "reference")[] | undefined; max_payments?: (number | null) | undefined; expires_at?: (string | null) | undefined; inactive_message?: (string | null) | undefined }; answer: PaymentLink }
  deactivatePaymentLink: { query: undefined; body: undefined; answer: PaymentLink }
  listProviders: { query: undefined; body: undefined; answer: { object: "list"; data: (Provider)[]; has_more: boolean } }
  readQuote: { query: { amount: (number | string); currency: "AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR"; provider?: "wallet_app" | "card_partner" | "local_partner" | undefined }; body: undefined; answer: Quote }
  previewRoutes: { query: undefined; body: { amount: (number | string); currency: "AED" | "AUD" | "CAD" | "CHF" | "CLP" | "COP" | "CZK" | "DKK" | "EGP" | "EUR" | "GBP" | "HKD" | "HUF" | "ILS" | "INR" | "ISK" | "JPY" | "KRW" | "MAD" | "MXN" | "NOK" | "NZD" | "PLN" | "QAR" | "RON" | "RSD" | "SAR" | "SEK" | "SGD" | "THB" | "TRY" | "USD" | "ZAR"; provider?: "wallet_app" | "card_partner" | "local_partner" | undefined; fallback?: "picker" | "none" | undefined; country?: "AD" | "AE" | "AF" | "AG" | "AI" | "AL" | "AM" | "AO" | "AQ" | "AR" | "AS" | "AT" | "AU" | "AW" | "AX" | "AZ" | "BA" | "BB" | "BD" | "BE" | "BF" | "BG" | "BH" | "BI" | "BJ" | "BL" | "BM" | "BN" | "BO" | "BQ" | "BR" | "BS" | "BT" | "BV" | "BW" | "BY" | "BZ" | "CA" | "CC" | "CD" | "CF" | "CG" | "CH" | "CI" | "CK" | "CL" | "CM" | "CN" | "CO" | "CR" | "CU" | "CV" | "CW" | "CX" | "CY" | "CZ" | "DE" | "DJ" | "DK" | "DM" | "DO" | "DZ" | "EC" | "EE" | "EG" | "EH" | "ER" | "ES" | "ET" | "FI" | "FJ" | "FK" | "FM" | "FO" | "FR" | "GA" | "GB" | "GD" | "GE" | "GF" | "GG" | "GH" | "GI" | "GL" | "GM" | "GN" | "GP" | "GQ" | "GR" | "GS" | "GT" | "GU" | "GW" | "GY" | "HK" | "HM" | "HN" | "HR" | "HT" | "HU" | "ID" | "IE" | "IL" | "IM" | "IN" | "IO" | "IQ" | "IR" | "IS" | "IT" | "JE" | "JM" | "JO" | "JP" | "KE" | "KG" | "KH" | "KI" | "KM" | "KN" | "KP" | "KR" | "KW" | "KY" | "KZ" | "LA" | "LB" | "LC" | "LI" | "LK" | "LR" | "LS" | "LT" | "LU" | "LV" | "LY" | "MA" | "MC" | "MD" | "ME" | "MF" | "MG" | "MH" | "MK" | "ML" | "MM" | "MN" | "MO" | "MP" | "MQ" | "MR" | "MS" | "MT" | "MU" | "MV" | "MW" | "MX" | "MY" | "MZ" | "NA" | "NC" | "NE" | "NF" | "NG" | "NI" | "NL" | "NO" | "NP" | "NR" | "NU" | "NZ" | "OM" | "PA" | "PE" | "PF" | "PG" | "PH" | "PK" | "PL" | "PM" | "PN" | "PR" | "PS" | "PT" | "PW" | "PY" | "QA" | "RE" | "RO" | "RS" | "RU" | "RW" | "SA" | "SB" | "SC" | "SD" | "SE" | "SG" | "SH" | "SI" | "SJ" | "SK" | "SL" | "SM" | "SN" | "SO" | "SR" | "SS" | "ST" | "SV" | "SX" | "SY" | "SZ" | "TC" | "TD" | "TF" | "TG" | "TH" | "TJ" | "TK" | "TL" | "TM" | "TN" | "TO" | "TR" | "TT" | "TV" | "TW" | "TZ" | "UA" | "UG" | "UM" | "US" | "UY" | "UZ" | "VA" | "VC" | "VE" | "VG" | "VI" | "VN" | "VU" | "WF" | "WS" | "YE" | "YT" | "ZA" | "ZM" | "ZW" | undefined; device_wallet?: boolean | undefined }; answer: RoutePreview }
  listEvents: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; after_sequence?: number | undefined; wait?: number | undefined; type?: "payment.succeeded" | "payment.created" | "payment.processing" | "payment.failed" | "payment.expired" | "payment.canceled" | "payment.under_review" | "payment.refunded" | "payment.chargeback" | "payment.chargeback_won" | "dispute.created" | "dispute.updated" | "dispute.closed" | "refund.created" | "refund.funded" | "refund.succeeded" | "refund.failed" | "refund.canceled" | "refund.expired" | "reserve.released" | "payment_link.completed" | "webhook_endpoint.disabled" | undefined; payment?: string | undefined }; body: undefined; answer: { object: "list"; data: (Event)[]; has_more: boolean } }
  readEvent: { query: undefined; body: undefined; answer: Event }
  createWebhookEndpoint: { query: undefined; body: { url: string; description?: string | undefined; enabled_events?: ("payment.succeeded" | "payment.created" | "payment.processing" | "payment.failed" | "payment.expired" | "payment.canceled" | "payment.under_review" | "payment.refunded" | "payment.chargeback" | "payment.chargeback_won" | "dispute.created" | "dispute.updated" | "dispute.closed" | "refund.created" | "refund.funded" | "refund.succeeded" | "refund.failed" | "refund.canceled" | "refund.expired" | "reserve.released" | "payment_link.completed" | "webhook_endpoint.disabled" | "*")[] | undefined; format?: "standard" | "btcpay" | undefined; secret?: string | undefined }; answer: WebhookEndpointWithSecret }
  listWebhookEndpoints: { query: undefined; body: undefined; answer: { object: "list"; data: (WebhookEndpoint)[]; has_more: boolean } }
  readWebhookEndpoint: { query: undefined; body: undefined; answer: WebhookEndpoint }
  updateWebhookEndpoint: { query: undefined; body: { url?: string | undefined; description?: (string | null) | undefined; enabled_events?: ("payment.succeeded" | "payment.created" | "payment.processing" | "payment.failed" | "payment.expired" | "payment.canceled" | "payment.under_review" | "payment.refunded" | "payment.chargeback" | "payment.chargeback_won" | "dispute.created" | "dispute.updated" | "dispute.closed" | "refund.created" | "refund.funded" | "refund.succeeded" | "refund.failed" | "refund.canceled" | "refund.expired" | "reserve.released" | "payment_link.completed" | "webhook_endpoint.disabled" | "*")[] | undefined; secret?: string | undefined; enabled?: boolean | undefined }; answer: WebhookEndpoint }
  deleteWebhookEndpoint: { query: undefined; body: undefined; answer: DeletedWebhookEndpoint }
  rotateWebhookSecret: { query: undefined; body: { overlap?: number | undefined }; answer: WebhookEndpointWithSecret }
  listDeliveries: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; status?: "pending" | "delivered" | "exhausted" | "disabled" | undefined; event?: string | undefined }; body: undefined; answer: { object: "list"; data: (Delivery)[]; has_more: boolean } }
  testWebhookEndpoint: { query: undefined; body: undefined; answer: SentTestEvent }
  redeliverEvent: { query: undefined; body: undefined; answer: Delivery }
  diagnoseDelivery: { query: undefined; body: undefined; answer: DeliveryDiagnosis }
  redeliverFailed: { query: undefined; body: { since: string }; answer: Redelivery }
  createApiKey: { query: undefined; body: { name: string; scopes?: ("payments:read" | "payments:write" | "webhooks:read" | "webhooks:write" | "events:read" | "settings:read" | "settings:write" | "notifications:read" | "notifications:write" | "members:read" | "members:write" | "audit:read" | "keys:read" | "keys:write" | "agents:use")[] | undefined; allowed_ips?: ((string))[] | undefined; expires_in?: number | undefined }; answer: ApiKeyWithSecret }
  listApiKeys: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined }; body: undefined; answer: { object: "list"; data: (ApiKey)[]; has_more: boolean } }
  rotateApiKey: { query: undefined; body: { overlap?: number | undefined }; answer: ApiKeyWithSecret }
  revokeApiKey: { query: undefined; body: undefined; answer: ApiKey }
  listRequests: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; path?: string | undefined; key?: string | undefined; errors?: "true" | undefined }; body: undefined; answer: { object: "list"; data: (LoggedRequest)[]; has_more: boolean } }
  readRequest: { query: undefined; body: undefined; answer: LoggedRequestWithBodies }
  readAccount: { query: undefined; body: undefined; answer: Account }
  applyForAccount: { query: undefined; body: { web_address: string; sells: string }; answer: Account }
  readWallet: { query: undefined; body: undefined; answer: Wallet }
  setWallet: { query: undefined; body: { address: string; signature?: string | undefined }; answer: Wallet }
  stopWalletChange: { query: undefined; body: undefined; answer: Wallet }
  readBrand: { query: undefined; body: undefined; answer: Brand }
  setBrand: { query: undefined; body: { name?: string | undefined; color?: (string | null) | undefined; support_email?: (string | null) | undefined; logo?: (string | null) | undefined }; answer: Brand }
  readDeductions: { query: undefined; body: undefined; answer: Deductions }
  setDeductions: { query: undefined; body: { limit_usdc: (number | null) }; answer: Deductions }
  readEmbedding: { query: undefined; body: undefined; answer: Embedding }
  setEmbedding: { query: undefined; body: { origins: (string)[] }; answer: Embedding }
  createNotificationChannel: { query: undefined; body: { kind: "email" | "discord" | "slack"; name?: string | undefined; webhook_url?: string | undefined; email?: string | undefined; events?: ("payment.succeeded" | "payment.failed" | "payment.expired" | "payment.canceled" | "payment.under_review" | "payment.chargeback" | "payment.refunded" | "dispute.created" | "dispute.closed" | "dispute.evidence_due" | "refund.created" | "refund.succeeded" | "refund.failed" | "reserve.released" | "payment_link.completed" | "payment_link.stopped" | "payment_link.resumed" | "webhook_endpoint.disabled")[] | undefined; language?: "en" | "de" | "fr" | "es" | "it" | "nl" | "pl" | "pt" | "ro" | "hu" | "sv" | "el" | "hi" | "ar" | undefined; quiet_hours?: ({ from: string; to: string; time_zone: string } | null) | undefined }; answer: NotificationChannel }
  listNotificationChannels: { query: undefined; body: undefined; answer: { object: "list"; data: (NotificationChannel)[]; has_more: boolean } }
  readNotificationChannel: { query: undefined; body: undefined; answer: NotificationChannel }
  updateNotificationChannel: { query: undefined; body: { name?: string | undefined; webhook_url?: string | undefined; events?: ("payment.succeeded" | "payment.failed" | "payment.expired" | "payment.canceled" | "payment.under_review" | "payment.chargeback" | "payment.refunded" | "dispute.created" | "dispute.closed" | "dispute.evidence_due" | "refund.created" | "refund.succeeded" | "refund.failed" | "reserve.released" | "payment_link.completed" | "payment_link.stopped" | "payment_link.resumed" | "webhook_endpoint.disabled")[] | undefined; language?: "en" | "de" | "fr" | "es" | "it" | "nl" | "pl" | "pt" | "ro" | "hu" | "sv" | "el" | "hi" | "ar" | undefined; quiet_hours?: ({ from: string; to: string; time_zone: string } | null) | undefined }; answer: NotificationChannel }
  deleteNotificationChannel: { query: undefined; body: undefined; answer: DeletedChannel }
  listChannelMessages: { query: undefined; body: undefined; answer: { object: "list"; data: (NotificationMessage)[]; has_more: boolean } }
  testNotificationChannel: { query: undefined; body: undefined; answer: NotificationMessage }
  resumeNotificationChannel: { query: undefined; body: undefined; answer: NotificationChannel }
  listMembers: { query: undefined; body: undefined; answer: { object: "list"; data: (Member)[]; has_more: boolean } }
  updateMember: { query: undefined; body: { role: "owner" | "developer" | "support" | "viewer" }; answer: Member }
  removeMember: { query: undefined; body: undefined; answer: DeletedMember }
  listInvitations: { query: undefined; body: undefined; answer: { object: "list"; data: (Invitation)[]; has_more: boolean } }
  inviteMember: { query: undefined; body: { email: string; role: "owner" | "developer" | "support" | "viewer" }; answer: Invitation }
  withdrawInvitation: { query: undefined; body: undefined; answer: WithdrawnInvitation }
  listAuditLog: { query: { limit?: number | undefined; starting_after?: string | undefined; ending_before?: string | undefined; action?: string | undefined; actor?: string | undefined; 'created[gte]'?: string | undefined; 'created[lt]'?: string | undefined }; body: undefined; answer: { object: "list"; data: (AuditEntry)[]; has_more: boolean } }
  exportPayments: { query: { format?: "json" | "csv" | "excel" | undefined; status?: string | undefined; provider?: "wallet_app" | "card_partner" | "local_partner" | "crypto" | undefined; currency?: string | undefined; reference?: string | undefined; customer_email?: string | undefined; tx_hash?: string | undefined; payment_link?: string | undefined; 'created[gte]'?: string | undefined; 'created[lt]'?: string | undefined; search?: string | undefined }; body: undefined; answer: (Payment)[] }
  exportStatement: { query: { format?: "json" | "csv" | "excel" | undefined; period: string }; body: undefined; answer: Statement }
  simulatePayment: { query: undefined; body: { action: "pay" | "decline" | "cancel" | "require_verification" | "verify" | "fail_verification" | "hold" | "release" | "confirm" | "top_up" | "reverse" | "expire" | "under" | "over" | "late" | "partner_down" | "twice"; received_minor?: string | undefined; failure_code?: "declined" | "insufficient_funds" | "verification_failed" | "abandoned" | "reversed" | "partner_unavailable" | undefined }; answer: Payment }
  skipTime: { query: undefined; body: { seconds: number }; answer: Payment }
}

/** Method and path of each operation. */
export const OPERATIONS = {
  createPayment: ['POST', '/v1/payments'],
  listPayments: ['GET', '/v1/payments'],
  readPaymentTimeline: ['GET', '/v1/payments/{id}/timeline'],
  readPayment: ['GET', '/v1/payments/{id}'],
  updatePayment: ['PATCH', '/v1/payments/{id}'],
  cancelPayment: ['POST', '/v1/payments/{id}/cancel'],
  readPaymentReceipt: ['GET', '/v1/payments/{id}/receipt'],
  listDisputes: ['GET', '/v1/disputes'],
  readDispute: ['GET', '/v1/disputes/{id}'],
  submitDisputeEvidence: ['POST', '/v1/disputes/{id}/evidence'],
  acceptDispute: ['POST', '/v1/disputes/{id}/accept'],
  createRefund: ['POST', '/v1/payments/{id}/refunds'],
  listPaymentRefunds: ['GET', '/v1/payments/{id}/refunds'],
  listRefunds: ['GET', '/v1/refunds'],
  readRefund: ['GET', '/v1/refunds/{id}'],
  fundRefund: ['POST', '/v1/refunds/{id}/fund'],
  cancelRefund: ['POST', '/v1/refunds/{id}/cancel'],
  createPaymentLink: ['POST', '/v1/payment_links'],
  listPaymentLinks: ['GET', '/v1/payment_links'],
  readPaymentLink: ['GET', '/v1/payment_links/{id}'],
  updatePaymentLink: ['PATCH', '/v1/payment_links/{id}'],
  deactivatePaymentLink: ['POST', '/v1/payment_links/{id}/deactivate'],
  listProviders: ['GET', '/v1/providers'],
  readQuote: ['GET', '/v1/quotes'],
  previewRoutes: ['POST', '/v1/routes/preview'],
  listEvents: ['GET', '/v1/events'],
  readEvent: ['GET', '/v1/events/{id}'],
  createWebhookEndpoint: ['POST', '/v1/webhook_endpoints'],
  listWebhookEndpoints: ['GET', '/v1/webhook_endpoints'],
  readWebhookEndpoint: ['GET', '/v1/webhook_endpoints/{id}'],
  updateWebhookEndpoint: ['PATCH', '/v1/webhook_endpoints/{id}'],
  deleteWebhookEndpoint: ['DELETE', '/v1/webhook_endpoints/{id}'],
  rotateWebhookSecret: ['POST', '/v1/webhook_endpoints/{id}/rotate_secret'],
  listDeliveries: ['GET', '/v1/webhook_endpoints/{id}/deliveries'],
  testWebhookEndpoint: ['POST', '/v1/webhook_endpoints/{id}/test'],
  redeliverEvent: ['POST', '/v1/webhook_endpoints/{id}/deliveries/{event}/redeliver'],
  diagnoseDelivery: ['POST', '/v1/webhook_endpoints/{id}/deliveries/{event}/diagnose'],
  redeliverFailed: ['POST', '/v1/webhook_endpoints/{id}/redeliver_failed'],
  createApiKey: ['POST', '/v1/api_keys'],
  listApiKeys: ['GET', '/v1/api_keys'],
  rotateApiKey: ['POST', '/v1/api_keys/{id}/rotate'],
  revokeApiKey: ['DELETE', '/v1/api_keys/{id}'],
  listRequests: ['GET', '/v1/requests'],
  readRequest: ['GET', '/v1/requests/{id}'],
  readAccount: ['GET', '/v1/account'],
  applyForAccount: ['PUT', '/v1/account/application'],
  readWallet: ['GET', '/v1/settings/wallet'],
  setWallet: ['PUT', '/v1/settings/wallet'],
  stopWalletChange: ['POST', '/v1/settings/wallet/stop_change'],
  readBrand: ['GET', '/v1/settings/brand'],
  setBrand: ['PATCH', '/v1/settings/brand'],
  readDeductions: ['GET', '/v1/settings/deductions'],
  setDeductions: ['PUT', '/v1/settings/deductions'],
  readEmbedding: ['GET', '/v1/settings/embedding'],
  setEmbedding: ['PUT', '/v1/settings/embedding'],
  createNotificationChannel: ['POST', '/v1/notification_channels'],
  listNotificationChannels: ['GET', '/v1/notification_channels'],
  readNotificationChannel: ['GET', '/v1/notification_channels/{id}'],
  updateNotificationChannel: ['PATCH', '/v1/notification_channels/{id}'],
  deleteNotificationChannel: ['DELETE', '/v1/notification_channels/{id}'],
  listChannelMessages: ['GET', '/v1/notification_channels/{id}/messages'],
  testNotificationChannel: ['POST', '/v1/notification_channels/{id}/test'],
  resumeNotificationChannel: ['POST', '/v1/notification_channels/{id}/resume'],
  listMembers: ['GET', '/v1/members'],
  updateMember: ['PATCH', '/v1/members/{id}'],
  removeMember: ['DELETE', '/v1/members/{id}'],
  listInvitations: ['GET', '/v1/invitations'],
  inviteMember: ['POST', '/v1/invitations'],
  withdrawInvitation: ['DELETE', '/v1/invitations/{email}'],
  listAuditLog: ['GET', '/v1/audit_log'],
  exportPayments: ['GET', '/v1/exports/payments'],
  exportStatement: ['GET', '/v1/exports/statement'],
  simulatePayment: ['POST', '/v1/test/payments/{id}/simulate'],
  skipTime: ['POST', '/v1/test/payments/{id}/skip_time'],
} as const satisfies Record<keyof Operations, readonly [string, string]>
