import { CHANNEL, INVITATION, LOGGED_REQUEST, MEMBER } from './account-examples.ts'
import { PAYMENT_LINK } from './link-example.ts'

/** One example of every object. A test compares each with its schema. */

export const PAYMENT_ID = 'pay_01m7z134d8fetv1hwd26y1yksm'
export const ATTEMPT_ID = 'att_01m7z13a6ffzrbpe1zsf4n0v2c'
export const EVENT_ID = 'evt_01m7z13c0xfzrbpdsf7qk0w6ta'
export const ENDPOINT_ID = 'we_01m7z0zqy3fzrbpe3gambgs8r8'
export const CREATED = '2026-11-22T10:00:00.000Z'
const PAID = '2026-11-22T10:02:11.000Z'
export const FINAL = '2026-11-22T10:02:39.000Z'
export const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const TOKEN = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'
const TX_HASH = '0x5f4d9d2b6c1e4f6b0a7a3e5b1f2c9d8e7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d'

/** As it is in events: without personal data of the buyer. */
const PAYMENT_IN_EVENT = {
  id: PAYMENT_ID,
  object: 'payment',
  livemode: false,
  status: 'succeeded',
  status_reason: null,
  exception: null,
  amount: 49.99,
  amount_decimal: '49.99',
  amount_minor: 4999,
  currency: 'EUR',
  provider: 'wallet_app',
  provider_used: 'wallet_app',
  method_used: 'banking_app',
  fallback: 'picker',
  description: 'Two tickets',
  reference: 'order-1042',
  metadata: { cart: '77' },
  invoice_number: 'R-2026-118',
  merchant_tax_id: 'DE129273398',
  items: [
    { name: 'Ticket to Vienna', quantity: 2, unit_amount: '22.00', tax_percent: '7' },
    { name: 'Seat reservation', quantity: 1, unit_amount: '5.99', tax_percent: '19' },
  ],
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/cart',
  checkout_url: 'https://pay.example/c/7XK0l3tq1uB5m6s2b9yZ4A',
  quote: { rate: '1.084', rate_source: 'converter', net_usdc_estimate: '51.750647', expires_at: CREATED },
  settlement: {
    confirmed: { amount: '49.99', amount_minor: 4999, currency: 'EUR' },
    gross_usdc: '54.189160',
    fee_usdc: '2.438512',
    fee_percent: '4.5',
    net_usdc: '51.750648',
    reserve: null,
    deduction: null,
    rate: '1.084',
    rate_from: 'EUR',
    rate_to: 'USDC',
    rate_source: 'converter',
    rate_locked_at: PAID,
    chain: 'polygon',
    chain_id: 137,
    token: TOKEN,
    destination: WALLET,
    tx_hash: TX_HASH,
    log_index: 12,
    block_number: 79_123_456,
    finalized_at: FINAL,
    explorer_url: `https://polygonscan.com/tx/${TX_HASH}`,
    delayed_since: null,
  },
  attempts: [
    {
      id: ATTEMPT_ID,
      provider: 'wallet_app',
      status: 'paid',
      partner_reference: 'W-58113',
      failure_code: null,
      created_at: CREATED,
    },
  ],
  refunded_amount: '0.00',
  refundable_amount: '49.99',
  refunds_count: 0,
  payment_link: null,
  created_at: CREATED,
  updated_at: FINAL,
  expires_at: '2026-11-23T10:00:00.000Z',
  paid_at: PAID,
  succeeded_at: FINAL,
  failed_at: null,
  canceled_at: null,
  version: 5,
}

export const PAYMENT = { ...PAYMENT_IN_EVENT, customer_email: 'anna@mail.example', customer_tax_id: null }

/** After the partner took back 20.00 EUR, and 29.99 EUR before that. */
export const CHARGED_BACK_PAYMENT = {
  ...PAYMENT_IN_EVENT,
  chargeback: { attempt: ATTEMPT_ID, amount: '20.00', lost: '49.99', currency: 'EUR' },
}

/** As it is when it has just been created. */
export const CREATED_PAYMENT = {
  ...PAYMENT,
  status: 'created',
  provider_used: null,
  method_used: null,
  settlement: {
    ...PAYMENT.settlement,
    confirmed: null,
    gross_usdc: null,
    fee_usdc: null,
    net_usdc: null,
    rate: null,
    rate_from: null,
    rate_to: null,
    rate_source: null,
    rate_locked_at: null,
    tx_hash: null,
    log_index: null,
    block_number: null,
    finalized_at: null,
    explorer_url: null,
  },
  attempts: [],
  refundable_amount: '0.00',
  updated_at: CREATED,
  paid_at: null,
  succeeded_at: null,
  version: 1,
}

export const CANCELED_PAYMENT = {
  ...CREATED_PAYMENT,
  status: 'canceled',
  updated_at: PAID,
  canceled_at: PAID,
  version: 2,
}

const TREASURY = '0x1f9840a85d5af5bf1d1762f925bdaddc4201f984'
const NONCE = '0x0b9e3f6f8a1d52c47e90b6a3c8d1f2e4a5b6c7d8e9f0a1b2c3d4e5f60718293a'
const BLOCK_HASH = '0x9a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9'
const addressTopic = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

/** Header, nodes and signature are shortened: a real receipt has some kilobytes of them. */
export const PAYMENT_RECEIPT = {
  object: 'payment_receipt',
  format: 'pinrail.receipt.v1',
  claims: {
    payment: PAYMENT_ID,
    livemode: false,
    chain_id: 137,
    token: TOKEN.toLowerCase(),
    treasury: TREASURY,
    destination: WALLET.toLowerCase(),
    net_usdc: '51.750648',
    nonce: NONCE,
    block_number: 79_123_456,
    block_hash: BLOCK_HASH,
    block_time: FINAL,
    tx_hash: TX_HASH,
    tx_index: 41,
    log_index: 12,
    issuer: 'https://pay.example',
    issued_at: FINAL,
  },
  proof: {
    header: '0xf90268a0',
    nodes: ['0xf90131a0', '0xf8518080', '0xf9082320'],
    logs: [
      {
        address: TOKEN.toLowerCase(),
        topics: ['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', addressTopic(TREASURY), NONCE],
        data: '0x',
      },
      {
        address: TOKEN.toLowerCase(),
        topics: [
          '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
          addressTopic(TREASURY),
          addressTopic(WALLET),
        ],
        data: `0x${(51_750_648).toString(16).padStart(64, '0')}`,
      },
    ],
  },
  signature: { protected: 'eyJhbGciOiJFZERTQSJ9', payload: 'eyJwYXltZW50IjoicGF5XyJ9', signature: 'c2hvcnRlbmVk' },
}

export const EVENT = {
  id: EVENT_ID,
  type: 'payment.succeeded',
  timestamp: FINAL,
  api_version: 'v1',
  livemode: false,
  sequence: 7,
  data: { object: PAYMENT_IN_EVENT },
}

export const TIMELINE_ENTRY = {
  id: 'tle_1795341600000000_0_1',
  at: CREATED,
  kind: 'payment.created',
  from_status: null,
  to_status: 'created',
  actor: 'merchant',
  message: 'The payment was created',
  data: {},
}

export const PROVIDER = {
  object: 'provider',
  name: 'wallet_app',
  label: 'Banking app',
  methods: ['banking_app'],
  countries: ['DE', 'FR'],
  currencies: [{ code: 'EUR', decimals: 2 }],
  charge_currency: null,
  minimum: { amount: '6.00', currency: 'EUR' },
  maximum: { amount: '10000.00', currency: 'EUR' },
  estimated_seconds: { p50: 60, p95: 300 },
  measured_seconds: { p50: 74, p95: 390 },
  identity_check: true,
}

export const QUOTE = {
  object: 'quote',
  amount_decimal: '49.99',
  currency: 'EUR',
  provider: 'wallet_app',
  rate: '1.084',
  rate_source: 'converter',
  gross_usdc_estimate: '54.189160',
  fee_usdc_estimate: '2.438512',
  fee_percent: '4.5',
  net_usdc_estimate: '51.750648',
  expires_at: CREATED,
}

const OFFER = {
  provider: 'wallet_app',
  method: 'banking_app',
  charge: { amount: '49.99', currency: 'EUR' },
  estimated_seconds: { p50: 60, p95: 300 },
  measured_seconds: { p50: 74, p95: 390 },
  identity_check: true,
}

export const ROUTE_PREVIEW = {
  object: 'route_preview',
  pinned: null,
  pinned_refused: null,
  offers: [OFFER],
  refused: [
    {
      provider: 'local_partner',
      method: 'upi',
      reason: 'country',
      message: 'local_partner does not offer upi in DE.',
      limit: null,
    },
  ],
  net_usdc_estimate: '51.750648',
}

export const DELIVERY = {
  object: 'delivery',
  event: EVENT_ID,
  endpoint: ENDPOINT_ID,
  type: 'payment.succeeded',
  status: 'delivered',
  attempts: 1,
  created_at: FINAL,
  last_attempt_at: FINAL,
  delivered_at: FINAL,
  log: [
    {
      number: 1,
      at: FINAL,
      duration_ms: 41,
      response_status: 204,
      response_headers: { date: 'Sun, 22 Nov 2026 10:02:39 GMT' },
      response_body: '',
      error: null,
    },
  ],
}

export const REDELIVERY = { object: 'redelivery', endpoint: ENDPOINT_ID, deliveries: 3 }

export const TEST_EVENT = { object: 'test_event', event: EVENT_ID, endpoint: ENDPOINT_ID }

export const API_KEY = {
  id: 'key_y8RLOpUeBl5E',
  object: 'api_key',
  livemode: false,
  name: 'Shop server',
  last4: '28WM',
  scopes: ['payments:read', 'payments:write'],
  allowed_ips: null,
  created_at: CREATED,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
}

export const API_KEY_WITH_SECRET = { ...API_KEY, key: 'pinrail_test_…' }

export const WALLET_SETTING = {
  object: 'wallet',
  livemode: false,
  address: WALLET,
  chain: 'polygon',
  chain_id: 137,
  token: TOKEN,
  set_at: CREATED,
  proved: false,
  proof_text: 'Pinrail: pay the account mer_01m804v6xffqc8dqr8b1t1nxw5 to this wallet, in test mode.',
  change: null,
}

export const PATH_IDS: Readonly<Record<string, string>> = {
  '/v1/payments/{id}': PAYMENT_ID,
  '/v1/test/payments/{id}': PAYMENT_ID,
  '/v1/disputes/{id}': 'dp_01m80a6q5ye2zvcb0m1xq2f7hv',
  '/v1/refunds/{id}': 're_01m80a6q5ye2zvcb0m1xq2f7ht',
  '/v1/payment_links/{id}': PAYMENT_LINK.id,
  '/v1/events/{id}': EVENT_ID,
  '/v1/webhook_endpoints/{id}': ENDPOINT_ID,
  '/v1/api_keys/{id}': API_KEY.id,
  '/v1/requests/{id}': LOGGED_REQUEST.id,
  '/v1/notification_channels/{id}': CHANNEL.id,
  '/v1/members/{id}': MEMBER.id,
  '/v1/invitations/{email}': INVITATION.email,
  '/v1/webhook_endpoints/{id}/deliveries/{event}': EVENT_ID,
}

export const BRAND = {
  object: 'brand',
  name: 'Halden Coffee',
  color: '#1d5247',
  support_email: 'help@shop.example',
  logo_url: 'https://pay.example/logos/0f343b0931126a20f133d67c2b018a3b.png',
} as const
