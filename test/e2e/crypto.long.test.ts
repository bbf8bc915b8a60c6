import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { deliveredEvents, until } from '../../scripts/demo/journey.ts'
import { readBalances } from '../../src/db/ledger.ts'
import { readTransferLink } from '../../src/domain/settlement/deposit.ts'
import { connectDevelopmentChain, mintUsdc } from '../../src/sandbox/chain.ts'
import { findDifferences } from '../support/differences.ts'
import { startTestSystem, type TestSystem, temporaryFolder } from './harness/test-system.ts'

/** The whole system with USDC as a method, from the checkout to the merchant's wallet. */

const folder = temporaryFolder()
let testSystem: TestSystem
beforeAll(async () => {
  const seed = Buffer.alloc(32, 3).toString('base64')
  testSystem = await startTestSystem({ folder, env: { CRYPTO_DEPOSITS: 'true', DEPOSIT_SEED: seed } })
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a buyer sends USDC to the address on the checkout: the merchant is paid, and the address is swept', async () => {
  const payment = await testSystem.merchant.create({ amount: '20.00', currency: 'USD' })
  const answer = await fetch(`${payment.checkout_url}/continue`, {
    method: 'POST',
    headers: { origin: new URL(testSystem.system.info.api_url).origin },
    body: new URLSearchParams({ provider: 'crypto', method: 'usdc' }),
  })
  const page = (await answer.text()).replaceAll('&amp;', '&')
  const request = readTransferLink(/href="(ethereum:[^"]+)"/.exec(page)?.[1] ?? '')
  if (request === null) throw new Error(`no address on the checkout: ${answer.status} ${page.slice(0, 500)}`)
  const chain = connectDevelopmentChain(testSystem.system.info.rpc_url)
  await mintUsdc(chain, { to: request.address, micro: BigInt(request.micro) })
  const [event] = await deliveredEvents(testSystem.merchant, payment.id)
  expect(event?.type).toBe('payment.succeeded')
  expect(await testSystem.merchant.read(payment.id)).toMatchObject({
    status: 'succeeded',
    provider_used: 'crypto',
    method_used: 'usdc',
    settlement: { tx_hash: expect.stringMatching(/^0x/) },
  })
  const swept = await until(async () => {
    const { rows } = await testSystem.db.query(
      `select micro_usdc::text as micro from deposit_sweep where state = 'done'`,
    )
    return rows.length === 0 ? null : rows
  }, 'the sweep')
  expect(swept).toEqual([{ micro: request.micro }])
  expect(await findDifferences(testSystem.db)).toEqual([])
  expect(
    (await readBalances(testSystem.db)).filter(({ account, amount }) => account === 'deposits' && amount !== '0'),
  ).toEqual([])
})
