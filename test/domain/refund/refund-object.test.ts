import { expect, test } from '@jest/globals'
import { hashTypedData } from 'viem'
import { renderRefund } from '../../../src/domain/refund/refund-object.ts'
import { AT, PLACE, refund } from './test-refund.ts'

const LATER = '2026-11-28T11:30:00.000Z'

test('the object of a refund has each of its facts', () => {
  const { funding, ...object } = renderRefund(
    refund({
      metadata: { order: '7' },
      reason: 'damaged',
      status: 'failed',
      statusReason: 'refused',
      partnerKey: 'att_1:refund:1',
      returnedTxHash: `0x${'e'.repeat(64)}`,
      updatedAt: LATER,
      fundedAt: LATER,
      failedAt: LATER,
    }),
  )
  expect(object).toEqual({
    id: 're_1',
    object: 'refund',
    livemode: false,
    payment: 'pay_1',
    number: 1,
    amount: 20,
    amount_decimal: '20.00',
    amount_minor: 2000,
    currency: 'EUR',
    status: 'failed',
    status_reason: 'refused',
    reason: 'damaged',
    fund_from: 'wallet',
    metadata: { order: '7' },
    partner_reference: 'att_1:refund:1',
    returned_tx_hash: `0x${'e'.repeat(64)}`,
    created_at: AT,
    updated_at: LATER,
    funded_at: LATER,
    succeeded_at: null,
    failed_at: LATER,
    version: 3,
  })
  expect(funding).toMatchObject({
    required_usdc: '21.680000',
    received_usdc: '0.000000',
    wallet: `0x${'d'.repeat(40)}`,
    address: PLACE.address,
    chain: 'polygon',
    chain_id: 137,
    token: `0x${'c'.repeat(40)}`,
    eip681: `ethereum:0x${'c'.repeat(40)}@137/transfer?address=0x${'a'.repeat(40)}&uint256=21680000`,
    rate: '1.084',
    rate_source: 'converter',
    expires_at: AT,
    signed_at: null,
    refusal: null,
    tx_hash: null,
  })
})

test('a refund of the payment’s own money asks for no USDC', () => {
  expect(renderRefund(refund({ fundFrom: 'payment' }))).toMatchObject({ fund_from: 'payment', funding: null })
})

test('a refund without an address has nothing to sign and no link for wallets', () => {
  expect(renderRefund(refund({ place: null })).funding).toMatchObject({ address: null, eip681: null, typed_data: null })
})

test('a wallet signs the digest of TransferWithAuthorization that the token computes', () => {
  const data = renderRefund(refund()).funding?.typed_data
  expect(data?.message).toEqual({
    from: `0x${'d'.repeat(40)}`,
    to: PLACE.address,
    value: '21680000',
    validAfter: '0',
    validBefore: '1795860000',
    nonce: PLACE.nonce,
  })
  expect(data?.types.EIP712Domain?.map(({ name, type }) => `${type} ${name}`)).toEqual([
    'string name',
    'string version',
    'uint256 chainId',
    'address verifyingContract',
  ])
  const ours = hashTypedData(data as Parameters<typeof hashTypedData>[0])
  const tokens = hashTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 137, verifyingContract: `0x${'c'.repeat(40)}` },
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
      from: `0x${'d'.repeat(40)}`,
      to: PLACE.address,
      value: 21_680_000n,
      validAfter: 0n,
      validBefore: 1_795_860_000n,
      nonce: PLACE.nonce,
    },
  })
  expect(ours).toBe(tokens)
})
