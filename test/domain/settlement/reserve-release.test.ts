import { expect, test } from '@jest/globals'
import { type ReleasableReserve, renderRelease, shareRelease } from '../../../src/domain/settlement/reserve-release.ts'

test('the object of a release has its sum in USDC, its day and its transaction', () => {
  const release = {
    id: 'rel_1',
    merchantId: 'mer_1',
    livemode: true,
    dueOn: '2026-11-28',
    payments: 3,
    micro: '1500000',
    recipient: `0x${'d'.repeat(40)}`,
    chainId: 137,
    token: `0x${'c'.repeat(40)}`,
    txHash: `0x${'e'.repeat(64)}`,
    finalizedAt: '2026-11-28T10:05:00.000Z',
    createdAt: '2026-11-28T10:00:00.000Z',
  } as const
  expect(renderRelease(release)).toEqual({
    id: 'rel_1',
    object: 'reserve_release',
    livemode: true,
    due_on: '2026-11-28',
    payments: 3,
    amount_usdc: '1.500000',
    wallet: release.recipient,
    chain_id: 137,
    token: release.token,
    tx_hash: release.txHash,
    finalized_at: '2026-11-28T10:05:00.000Z',
    created_at: '2026-11-28T10:00:00.000Z',
  })
})

const reserve = (paymentId: string, heldMicro: string, unreleasedMicro = heldMicro): ReleasableReserve => ({
  paymentId,
  heldMicro,
  unreleasedMicro,
})

test.each([
  ['exactly what is held back', '30', { a: '10', b: '20' }],
  ['less, so that the last payment keeps the rest', '25', { a: '10', b: '15' }],
  ['so little that a payment has no part', '10', { a: '10' }],
  ['more, which comes from what a chargeback has taken', '33', { a: '10', b: '23' }],
  ['all reserves', '35', { a: '10', b: '25' }],
  ['more than all reserves', '36', null],
])('a transfer of %s is shared among its payments', (_what, paid, parts) => {
  const shared = shareRelease(paid, [reserve('a', '10'), reserve('b', '20', '25')])
  expect(shared && Object.fromEntries(shared.map(({ paymentId, micro }) => [paymentId, micro]))).toEqual(parts)
})
