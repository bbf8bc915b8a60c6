import { expect, test } from '@jest/globals'
import { renderRelease } from '../../../src/domain/settlement/reserve-release.ts'

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
