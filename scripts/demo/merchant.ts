import { Webhook } from 'standardwebhooks'
import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import { z } from 'zod'
import type { SystemInfo } from '../system.ts'

/** The merchant as a program: the API with a key, the webhook inbox, the wallet on chain. */

const payment = z.looseObject({
  id: z.string(),
  status: z.string(),
  exception: z.string().nullable(),
  checkout_url: z.string(),
  settlement: z.looseObject({ net_usdc: z.string().nullable(), tx_hash: z.string().nullable() }),
})
export type PaymentAnswer = z.infer<typeof payment>

const delivery = z.looseObject({ headers: z.record(z.string(), z.string()), body: z.string(), status: z.number() })

export type Merchant = ReturnType<typeof createMerchant>

/** What the demo and the tests know of a running system. */
export type Shop = Pick<
  SystemInfo,
  'api_url' | 'inbox_url' | 'rpc_url' | 'usdc_address' | 'secret_key' | 'webhook_secret'
>

export function createMerchant(shop: Shop) {
  const headers = { authorization: `Bearer ${shop.secret_key}`, 'content-type': 'application/json' }
  const chain = createPublicClient({ transport: http(shop.rpc_url) })

  return {
    async create(body: object, idempotencyKey?: string): Promise<PaymentAnswer> {
      const response = await fetch(`${shop.api_url}/v1/payments`, {
        method: 'POST',
        headers: { ...headers, ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) },
        body: JSON.stringify(body),
      })
      if (response.status !== 201) throw new Error(`create: ${response.status} ${await response.text()}`)
      return payment.parse(await response.json())
    },

    async read(id: string): Promise<PaymentAnswer> {
      const response = await fetch(`${shop.api_url}/v1/payments/${id}`, { headers })
      if (response.status !== 200) throw new Error(`read: ${response.status} ${await response.text()}`)
      return payment.parse(await response.json())
    },

    /** The webhooks of one payment that the inbox has taken, each with a signature that the standard library accepts. */
    async events(paymentId: string): Promise<{ id: string; type: string; sequence: number }[]> {
      const response = await fetch(`${shop.inbox_url}/deliveries`)
      const deliveries = z.array(delivery).parse(await response.json())
      return deliveries
        .filter((item) => item.status < 300 && item.body.includes(paymentId))
        .map((item) => z.object({ id: z.string(), type: z.string(), sequence: z.number() }).parse(verify(shop, item)))
    },

    balance(wallet: Hex): Promise<bigint> {
      return chain.readContract({
        address: shop.usdc_address as Hex,
        abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
        functionName: 'balanceOf',
        args: [wallet],
      })
    },
  }
}

/** The library checks the time against its own clock: an older delivery is checked at the time it was signed. */
function verify(shop: Shop, item: z.infer<typeof delivery>): unknown {
  const webhook = new Webhook(shop.webhook_secret)
  const timestamp = Number(item.headers['webhook-timestamp'])
  const expected = webhook.sign(item.headers['webhook-id'] ?? '', new Date(timestamp * 1000), item.body)
  if (!(item.headers['webhook-signature'] ?? '').split(' ').includes(expected))
    throw new Error('a webhook has a wrong signature')
  return JSON.parse(item.body)
}
