import { openDeposit } from '../../../src/db/payments/deposits.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { checksumAddress } from '../../../src/evm/checksum.ts'
import type { TestApi } from './test-api.ts'

/** A relayer, a current and an earlier treasury, and a deposit address of another merchant's payment. */
const OWN = ['a1', 'b2', 'c3', 'd4'].map((byte): Hex => `0x${byte.repeat(20)}`)

const spellings = (address: Hex): string[] => [address, checksumAddress(address), `0x${address.slice(2).toUpperCase()}`]

/** Registers addresses of the platform, on this chain and on others, and returns every spelling of each. */
export async function insertOwnAddresses(testApi: Pick<TestApi, 'db' | 'ask'>): Promise<string[]> {
  const [relayer, treasury, retired, deposit] = OWN
  const { db } = testApi
  await db.query('insert into lane (chain_id, wallet, next_nonce) values (31337, $1, 0)', [relayer])
  await db.query(
    `insert into treasury (chain_id, token, address, first_id) values (31337, $1, $2, null), (31337, $1, $3, 'pay_01')`,
    [relayer, treasury, retired],
  )
  const { body: payment } = await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     values ('att_own', $1, 'crypto', 'usdc', 'open', 1000, 'EUR', now(), now())`,
    [payment['id']],
  )
  await openDeposit(db, {
    attemptId: 'att_own',
    deriveAddress: () => deposit as Hex,
    // The key of the address is the platform's on every chain.
    chainId: 80_002,
    token: relayer as Hex,
    askedMicro: '1',
    rate: { rate: '1', source: 'test', asOf: new Date().toISOString() },
    expiresAt: Math.floor(Date.now() / 1000) + 3600,
    watchSeconds: 3600,
  })
  return OWN.flatMap(spellings)
}
