import { describe, expect, test } from '@jest/globals'
import { multicall3Abi, parseSignature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeAbiParameters, encodeFunctionData, keccak256, parseAbi } from 'viem/utils'
import { createTreasurySigner, PolicyRefusal } from '../../src/chain/authorization.ts'
import { decidePayouts } from '../../src/chain/authorizer.ts'
import { multicallCodec } from '../../src/chain/codec.ts'
import { accountOf } from '../../src/chain/keys/private-key.ts'
import type { Payout } from '../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
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

test('the WebAssembly signer signs exactly as viem does', async () => {
  for (let round = 0; round < 20; round++) {
    const key = newKey()
    const [ours, theirs] = [accountOf(key), privateKeyToAccount(key)]
    expect(ours.address).toBe(theirs.address)
    const hash = newKey()
    expect(await ours.sign?.({ hash })).toBe(await theirs.sign({ hash }))
    expect(await ours.signMessage({ message: hash })).toBe(await theirs.signMessage({ message: hash }))
    const transaction = {
      type: 'eip1559',
      chainId: 31337,
      nonce: round,
      to: newAddress(),
      data: hash,
      gas: 21_000n,
      maxFeePerGas: 2n,
      maxPriorityFeePerGas: 1n,
    } as const
    expect(await ours.signTransaction(transaction)).toBe(await theirs.signTransaction(transaction))
  }
})

test('an authorization is the EIP-712 typed data of EIP-3009', async () => {
  const types = {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const
  const domain = { name: 'USD Coin', version: '2', chainId: TOKEN.chainId, verifyingContract: TOKEN.address }
  const asked = payout()
  const transfer = await account.signTypedData({
    domain,
    types,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: treasury,
      to: asked.recipient,
      value: 1_000_000n,
      validAfter: 0n,
      validBefore: 1_700_000_000n,
      nonce: asked.authNonce,
    },
  })
  expect((await signer.signTransfer(asked, 1_700_000_000)).signature).toBe(transfer)
  const cancel = await account.signTypedData({
    domain,
    types,
    primaryType: 'CancelAuthorization',
    message: { authorizer: treasury, nonce: asked.authNonce },
  })
  expect((await signer.signCancellation(asked)).signature).toBe(cancel)
})

test.each(['', 'pay_1', 'pay_01h455vb4pex5vsknk084sn02q', 'x'.repeat(32), 'é'.repeat(40)])(
  'the nonce of payment "%s" is the hash of the ABI encoding',
  (paymentId) => {
    const types = ['string', 'uint256', 'address', 'address', 'string'].map((type) => ({ type }))
    const values = ['pinrail.payout.v1', 31337n, TOKEN.address, account.address, paymentId]
    const place = { chainId: 31337, token: TOKEN.address, treasury: account.address, paymentId }
    expect(payoutNonce(place)).toBe(keccak256(encodeAbiParameters(types, values)))
  },
)

test('a batch is encoded as the ABI of Multicall3 and USDC says', async () => {
  const transfer = payout()
  const cancel = payout({ paymentId: 'pay_2', state: 'voiding' })
  const signed = [
    { ...transfer, signed: await signer.signTransfer(transfer, 1_700_000_000) },
    { ...cancel, signed: await signer.signCancellation(cancel) },
  ]
  const abi = parseAbi([
    'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    'function cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)',
  ])
  const [first, second] = signed.map((one) => parseSignature(one.signed.signature))
  const calls = [
    encodeFunctionData({
      abi,
      functionName: 'transferWithAuthorization',
      args: [
        treasury,
        transfer.recipient,
        1_000_000n,
        0n,
        1_700_000_000n,
        transfer.authNonce,
        Number(first!.v),
        first!.r,
        first!.s,
      ],
    }),
    encodeFunctionData({
      abi,
      functionName: 'cancelAuthorization',
      args: [treasury, cancel.authNonce, Number(second!.v), second!.r, second!.s],
    }),
  ].map((callData) => ({ target: TOKEN.address, allowFailure: true, callData }))
  expect(multicallCodec.encode(TOKEN.address, signed).calldata).toBe(
    encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
  )
})

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

  const stranger = newAddress()
  const TO_NOBODY = 'the recipient is the treasury, the token contract or zero'
  test.each([
    ['of the other mode', { livemode: true }, 'the payout belongs to the other mode'],
    ['of another chain', { chainId: 137 }, 'the payout belongs to chain 137'],
    ['in another token', { token: stranger }, `the payout is in another token: ${stranger}`],
    ['of another treasury', { treasury: stranger }, `the payout belongs to treasury ${stranger}`],
    [
      'whose nonce does not follow from the payment',
      { authNonce: `0x${'1'.repeat(64)}` as const },
      'the nonce does not follow from the payment',
    ],
  ])('never a payout %s, nor its cancellation', async (_case, changes, why) => {
    const refusal = new PolicyRefusal(why)
    await expect(signer.signTransfer(payout(changes), 1_700_000_000)).rejects.toThrow(refusal)
    await expect(signer.signCancellation(payout(changes))).rejects.toThrow(refusal)
    await expect(signer.signCancellation(payout(changes))).rejects.toBeInstanceOf(PolicyRefusal)
  })

  test.each([
    ['to itself', { recipient: treasury }, TO_NOBODY],
    ['to the token contract', { recipient: TOKEN.address }, TO_NOBODY],
    ['to the zero address', { recipient: `0x${'0'.repeat(40)}` as const }, TO_NOBODY],
    ['above the limit', { microUsdc: '5000001' }, '5000001 micro-USDC is not within the limit of 5000000 per payout'],
    ['of nothing', { microUsdc: '0' }, '0 micro-USDC is not within the limit of 5000000 per payout'],
    ['of less than nothing', { microUsdc: '-1' }, '-1 micro-USDC is not within the limit of 5000000 per payout'],
  ])('never a payout %s, but its cancellation, which moves nothing', async (_case, changes, why) => {
    const refused = signer.signTransfer(payout(changes), 1_700_000_000)
    await expect(refused).rejects.toThrow(new PolicyRefusal(why))
    await expect(refused).rejects.toBeInstanceOf(PolicyRefusal)
    expect(await signer.signCancellation(payout(changes))).toMatchObject({ kind: 'cancel' })
  })
})

describe('a treasury that is short', () => {
  const decide = (queued: readonly Payout[], available: bigint) =>
    decidePayouts(
      queued,
      {
        paused: false,
        treasuryBlacklisted: false,
        balance: available,
        payouts: queued.map(() => ({ blacklisted: false, used: false, usedByOther: false })),
      },
      {
        available,
        spendable: 10n ** 12n,
        signedBefore: new Set(),
        heldAfter: new Date(0),
        forbidden: queued.map(() => null),
      },
    ).map(({ kind }) => kind)

  test('keeps the order of one merchant’s payouts, and pays the others what it can', () => {
    const [recipient, other] = [newAddress(), newAddress()]
    const large = payout({ recipient, microUsdc: '5000000' })
    const small = payout({ recipient, microUsdc: '1' })
    expect(decide([large, small, payout({ recipient: other })], 2_000_000n)).toEqual(['wait', 'wait', 'sign'])
    expect(decide([small, large, small], 2_000_000n)).toEqual(['sign', 'wait', 'wait'])
  })

  test('promises no micro-USDC twice', () => {
    const queued = [payout(), payout(), payout()]
    expect(decide(queued, 2_000_000n)).toEqual(['sign', 'sign', 'wait'])
    expect(decide(queued, 1_999_999n)).toEqual(['sign', 'wait', 'wait'])
  })
})
