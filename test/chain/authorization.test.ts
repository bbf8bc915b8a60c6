import { describe, expect, test } from '@jest/globals'
import { privateKeyToAccount } from 'viem/accounts'
import { createTreasurySigner, PolicyRefusal } from '../../src/chain/authorization.ts'
import type { Payout } from '../../src/domain/payout.ts'
import { payoutNonce } from '../../src/payout-nonce.ts'
import { newAddress, newKey, TOKEN } from './world.ts'

const account = privateKeyToAccount(newKey())
const treasury = account.address.toLowerCase() as `0x${string}`
const signer = createTreasurySigner(account, { livemode: false, token: TOKEN, maxMicroPerPayout: 5_000_000n })

function payout(changes: Partial<Payout> = {}): Payout {
  const base = { paymentId: 'pay_1', livemode: false, chainId: TOKEN.chainId, token: TOKEN.address, treasury }
  const nonce = payoutNonce({ ...base, ...changes })
  return {
    ...base,
    recipient: newAddress(),
    microUsdc: '1000000',
    authNonce: nonce,
    state: 'queued',
    holdReason: null,
    refusals: 0,
    createdAt: new Date(),
    ...changes,
  }
}

test('a payment has one nonce for life, the same in every version of this code', () => {
  const nonce = payoutNonce({
    chainId: 137,
    token: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
    treasury: '0x1111111111111111111111111111111111111111',
    paymentId: 'pay_01h455vb4pex5vsknk084sn02q',
  })
  expect(nonce).toBe('0x22f21c1836d1384b60e001eb7678edc8899beef4bc8f49998f9533262e095b62')
  expect(payoutNonce({ chainId: 137, token: TOKEN.address, treasury, paymentId: 'pay_2' })).not.toBe(
    payoutNonce({ chainId: 137, token: TOKEN.address, treasury, paymentId: 'pay_3' }),
  )
})

describe('the treasury signs', () => {
  test('a payout of its own, with the deadline asked for', async () => {
    const signed = await signer.signTransfer(payout(), 1_700_000_000)
    expect(signed).toMatchObject({ kind: 'transfer', validBefore: 1_700_000_000 })
    expect(signed.signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/)
  })

  test.each([
    ['of the other mode', { livemode: true }],
    ['of another chain', { chainId: 137 }],
    ['in another token', { token: newAddress() }],
    ['of another treasury', { treasury: newAddress() }],
    ['whose nonce does not follow from the payment', { authNonce: `0x${'1'.repeat(64)}` as const }],
    ['to itself', { recipient: treasury }],
    ['to the token contract', { recipient: TOKEN.address }],
    ['to the zero address', { recipient: `0x${'0'.repeat(40)}` as const }],
    ['above the limit', { microUsdc: '5000001' }],
    ['of nothing', { microUsdc: '0' }],
  ])('never a payout %s', async (_case, changes) => {
    await expect(signer.signTransfer(payout(changes), 1_700_000_000)).rejects.toThrow(PolicyRefusal)
    await expect(signer.signCancellation(payout(changes))).rejects.toThrow(PolicyRefusal)
  })
})
