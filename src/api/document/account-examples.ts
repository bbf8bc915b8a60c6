/** One example of every object of people, channels and files. A test compares each with its schema. */

const AT = '2026-11-22T10:00:00.000Z'
const LATER = '2026-11-29T10:00:00.000Z'
const PERSON_ID = 'per_01m7z0zqy3fzrbpe3gambgs8r8'

export const ACCOUNT = {
  id: 'mer_01m7z0zqy3fzrbpe3gambgs8r8',
  object: 'account',
  livemode: false,
  name: 'Nightline Rail',
  status: 'approved',
  status_message: null,
  status_since: AT,
  payouts_held: false,
  application: { web_address: 'https://nightline.example', sells: 'Tickets for night trains', applied_at: AT },
  fee_percent: '4.5',
  reserve: { percent: '10', days: 90, held_usdc: '124.990000', next_release_on: '2026-12-14' },
  limits: { payment_usdc: '2000.000000', day_usdc: '20000.000000', open_payments: 1000 },
  used: { day_usdc: '1249.900000', open_payments: 3 },
}

export const LOGGED_REQUEST = {
  id: 'req_01m7z0zqy3fzrbpe3gambgs8r8',
  object: 'request',
  key: 'key_y8RLOpUeBl5E',
  key_name: 'Shop server',
  method: 'POST',
  path: '/v1/payments',
  status: 409,
  duration_ms: 12,
  code: 'wallet_not_configured',
  at: AT,
}

export const LOGGED_REQUEST_WITH_BODIES = {
  ...LOGGED_REQUEST,
  request_body: '{"amount":"49.90","currency":"EUR"}',
  response_body: '{"status":409,"code":"wallet_not_configured"}',
}

export const CHANNEL = {
  id: 'nch_01m7z0zqy3fzrbpe3gambgs8r8',
  object: 'notification_channel',
  livemode: false,
  kind: 'slack',
  name: '#payments',
  events: ['payment.succeeded'],
  language: 'en',
  quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Oslo' },
  status: 'on',
  off_since: null,
  off_reason: null,
  waiting: 0,
  created_at: AT,
  updated_at: AT,
}

export const CHANNEL_MESSAGE = {
  id: 'ncm_01m7z0zqy3fzrbpe3gambgs8r8',
  object: 'notification_message',
  kind: 'single',
  state: 'sent',
  count: 1,
  kinds: ['payment.succeeded'],
  failure: null,
  created_at: AT,
  sent_at: AT,
}

export const MEMBER = {
  id: PERSON_ID,
  object: 'member',
  email: 'you@shop.example',
  role: 'owner',
  seen_at: AT,
  passkeys: 1,
}

export const INVITATION = { object: 'invitation', email: 'new@shop.example', role: 'viewer', expires_at: LATER }

export const AUDIT_ENTRY = {
  id: 'aud_01k9z3v7t8e4a9v2b6q5r0c1d2',
  object: 'audit_entry',
  actor: PERSON_ID,
  action: 'member.invited',
  data: { role: 'viewer' },
  ip: '192.0.2.7',
  at: AT,
}

const SUM = {
  payments: 2,
  converted_usdc: '108.378320',
  fee_usdc: '4.877024',
  reserved_usdc: '0.000000',
  deducted_usdc: '0.000000',
  released_usdc: '0.000000',
  charged_back_usdc: '0.000000',
  received_usdc: '103.501296',
  refunds: 1,
  refunds_usdc: '21.680000',
  total_usdc: '81.821296',
}

export const STATEMENT = {
  object: 'statement',
  livemode: false,
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  by: 'day',
  lines: [{ period: '2026-11-22', ...SUM }],
  sum: { period: 'sum', ...SUM },
}
