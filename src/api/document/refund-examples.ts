import { CREATED, PAYMENT_ID, TOKEN, WALLET } from './examples.ts'

const ADDRESS = '0x5c1f9d1b7e0b2f6a8f3c7d4e5a6b7c8d9e0f1a2b'

/** As it is when it has just been created. */
export const REFUND = {
  id: 're_01m80a6q5ye2zvcb0m1xq2f7ht',
  object: 'refund',
  livemode: false,
  payment: PAYMENT_ID,
  number: 1,
  amount: 20,
  amount_decimal: '20.00',
  amount_minor: 2000,
  currency: 'EUR',
  status: 'awaiting_funds',
  status_reason: null,
  reason: 'One ticket was returned',
  fund_from: 'wallet',
  metadata: { ticket: '2' },
  funding: {
    required_usdc: '21.680000',
    received_usdc: '0.000000',
    wallet: WALLET.toLowerCase(),
    address: ADDRESS,
    chain: 'polygon',
    chain_id: 137,
    token: TOKEN.toLowerCase(),
    eip681: `ethereum:${TOKEN.toLowerCase()}@137/transfer?address=${ADDRESS}&uint256=21680000`,
    rate: '1.084',
    rate_source: 'converter',
    expires_at: '2026-11-22T11:00:00.000Z',
    typed_data: {
      domain: { name: 'USD Coin', version: '2', chainId: 137, verifyingContract: TOKEN.toLowerCase() },
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'TransferWithAuthorization',
      message: {
        from: WALLET.toLowerCase(),
        to: ADDRESS,
        value: '21680000',
        validAfter: '0',
        validBefore: '1795345200',
        nonce: `0x${'7b'.repeat(32)}`,
      },
    },
    signed_at: null,
    refusal: null,
    tx_hash: null,
  },
  partner_reference: null,
  returned_tx_hash: null,
  created_at: CREATED,
  updated_at: CREATED,
  funded_at: null,
  succeeded_at: null,
  failed_at: null,
  version: 2,
}

export const SIGNED_REFUND = { ...REFUND, funding: { ...REFUND.funding, signed_at: CREATED }, version: 3 }

export const CANCELED_REFUND = { ...REFUND, status: 'canceled', version: 3 }

export const SUCCEEDED_REFUND = {
  ...REFUND,
  status: 'succeeded',
  partner_reference: REFUND.id,
  funding: { ...REFUND.funding, received_usdc: '21.680000', tx_hash: `0x${'4f'.repeat(32)}` },
  funded_at: '2026-11-22T10:05:00.000Z',
  succeeded_at: '2026-11-22T10:05:03.000Z',
  updated_at: '2026-11-22T10:05:03.000Z',
  version: 5,
}
