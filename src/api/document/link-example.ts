/** The example of a payment link, for the document. */
export const PAYMENT_LINK = {
  id: 'plink_01m7z0zqy3fzrbpe3gambgs8r8',
  object: 'payment_link',
  livemode: false,
  code: 'k7Qm2vXa9B',
  url: 'https://pay.example/l/k7Qm2vXa9B',
  active: true,
  status: 'active',
  amount: 64,
  min_amount: null,
  max_amount: null,
  currency: 'EUR',
  provider: null,
  title: 'October tasting box',
  description: 'Three coffees from three farms',
  reference: null,
  metadata: {},
  success_url: null,
  prefill: [],
  max_payments: 50,
  payments_count: 38,
  expires_at: null,
  inactive_message: null,
  wallet: null,
  created_via: 'api',
  completed_at: null,
  created_at: '2026-11-22T10:00:00.000Z',
  updated_at: '2026-11-22T10:00:00.000Z',
}

/** After its last payment. */
export const USED_UP = {
  ...PAYMENT_LINK,
  status: 'sold_out',
  payments_count: PAYMENT_LINK.max_payments,
  completed_at: '2026-11-23T09:30:00.000Z',
}
