import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createClient, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { encodeFunctionData, keccak256 } from 'viem/utils'
import type { Hex } from '../../../../src/domain/hex.ts'
import { usdcAdminAbi } from '../../../../src/sandbox/chain.ts'
import type { PayerInput } from './payer-process.ts'

/**
 * The control: a relayer as it is often written. It takes payouts from the queue, sends a plain `transfer` for each,
 * waits for the receipt, and puts a payout back into the queue if it believes that it failed.
 */
const input = JSON.parse(process.argv[2] ?? '') as PayerInput
const account = privateKeyToAccount(input.relayerKeys[0] as Hex)
const client = createClient({ chain: foundry, transport: http(input.rpcUrls[0], { retryCount: 0, timeout: 4000 }) })
  .extend(publicActions)
  .extend(walletActions)
const db = new pg.Pool({ connectionString: input.databaseUrl, max: 2 })
db.on('error', () => undefined)

type Claimed = { payment_id: string; recipient: Hex; micro: string }

const AT_ONCE = 25
const PATIENCE_MS = 3000

async function claim(): Promise<Claimed[]> {
  const { rows } = await db.query(
    `update plain p set state = 'sending', since = now() where payment_id in (
       select payment_id from plain where state = 'queued' or state = 'sending' and since < now() - interval '5 seconds'
       order by payment_id limit ${AT_ONCE} for update skip locked)
     returning payment_id, recipient, micro::text`,
  )
  return rows as Claimed[]
}

async function send({ recipient, micro }: Claimed, nonce: number): Promise<Hex> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: foundry.id,
    nonce,
    to: input.token,
    data: encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [recipient, BigInt(micro)] }),
    gas: 100_000n,
    maxFeePerGas: 60n * 10n ** 9n,
    maxPriorityFeePerGas: 30n * 10n ** 9n,
  })
  await client.sendRawTransaction({ serializedTransaction: raw })
  return keccak256(raw)
}

async function mined(hash: Hex): Promise<boolean> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(200)) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => null)
    if (receipt?.status === 'success') return true
  }
  return false
}

async function pay(payout: Claimed, nonce: number): Promise<void> {
  const paid = await send(payout, nonce).then(mined, () => false)
  await db.query('update plain set state = $2 where payment_id = $1', [payout.payment_id, paid ? 'paid' : 'queued'])
}

// No other process would end this one.
process.on('disconnect', () => process.exit())
process.send?.('up')
for (;;) {
  try {
    const nonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' })
    const claimed = await claim()
    await Promise.all(claimed.map((payout, index) => pay(payout, nonce + index)))
    if (claimed.length === 0) await delay(200)
  } catch {
    await delay(100)
  }
}
