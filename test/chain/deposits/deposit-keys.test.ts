import { expect, test } from '@jest/globals'
import { createDepositKeys, sweepNonce } from '../../../src/chain/deposits/deposit-keys.ts'

const SEED = Buffer.alloc(32, 5).toString('base64')
const keys = createDepositKeys(SEED, 137)

test('a deposit address follows from seed, chain and payment alone, for ever', () => {
  expect(keys.addressOf('pay_1')).toBe(createDepositKeys(SEED, 137).addressOf('pay_1'))
  expect(keys.accountAt('pay_1', keys.addressOf('pay_1'))?.address.toLowerCase()).toBe(keys.addressOf('pay_1'))
  const others = [
    keys.addressOf('pay_2'),
    createDepositKeys(SEED, 80_002).addressOf('pay_1'),
    createDepositKeys(Buffer.alloc(32, 6).toString('base64'), 137).addressOf('pay_1'),
  ]
  expect(new Set([keys.addressOf('pay_1'), ...others]).size).toBe(4)
  // Money may be waiting at addresses that were shown: this derivation cannot change.
  expect(keys.addressOf('pay_1')).toBe('0xf068528a8849c4ab4de4df0b13519442956ded42')
})

test('a short seed is refused', () => {
  expect(() => createDepositKeys(Buffer.alloc(31).toString('base64'), 137)).toThrow('32 bytes')
})

test('every sweep of a payment has a nonce of its own', () => {
  const sweep = {
    chainId: 137,
    token: `0x${'c'.repeat(40)}`,
    address: keys.addressOf('pay_1'),
    paymentId: 'pay_1',
    index: 0,
  } as const
  const nonces = [
    sweepNonce(sweep),
    sweepNonce({ ...sweep, index: 1 }),
    sweepNonce({ ...sweep, paymentId: 'pay_2' }),
    sweepNonce({ ...sweep, chainId: 1 }),
    sweepNonce({ ...sweep, address: keys.addressOf('pay_2') }),
  ]
  expect(new Set(nonces).size).toBe(5)
})

test('an address of a retired seed keeps its key, and new ones follow from the new seed', () => {
  const rotated = createDepositKeys(Buffer.alloc(32, 9).toString('base64'), 137, [SEED])
  const old = keys.addressOf('pay_1')
  expect(rotated.addressOf('pay_1')).not.toBe(old)
  expect(rotated.accountAt('pay_1', old)?.address.toLowerCase()).toBe(old)
  expect(rotated.accountAt('pay_1', rotated.addressOf('pay_1'))?.address.toLowerCase()).toBe(rotated.addressOf('pay_1'))
  expect(rotated.accountAt('pay_2', old)).toBeNull()
  expect(createDepositKeys(Buffer.alloc(32, 9).toString('base64'), 137).accountAt('pay_1', old)).toBeNull()
})
