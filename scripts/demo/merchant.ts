import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import { z } from 'zod'
import { createPinrail, type Event, type Payment, type Pinrail, verifyWebhook } from '../../src/client/index.ts'
import type { SystemInfo } from '../system.ts'

/** A merchant's program: uses the API with a key, the webhook inbox, and the wallet on chain. */

export type PaymentAnswer = Payment
export type NewPayment = Parameters<Pinrail['payments']['create']>[0]

const delivery = z.looseObject({ headers: z.record(z.string(), z.string()), body: z.string(), status: z.number() })

export type Merchant = ReturnType<typeof createMerchant>

/** The part of a running system that a merchant's program uses. */
export type MerchantAccess = Pick<
  SystemInfo,
  'api_url' | 'inbox_url' | 'rpc_url' | 'usdc_address' | 'secret_key' | 'webhook_secret'
>

export function createMerchant(access: MerchantAccess) {
  const pinrail = createPinrail({ apiKey: access.secret_key, baseUrl: access.api_url })
  const chain = createPublicClient({ transport: http(access.rpc_url) })

  return {
    create: (body: NewPayment, idempotencyKey?: string): Promise<PaymentAnswer> =>
      pinrail.payments.create(body, idempotencyKey === undefined ? {} : { idempotencyKey }),

    read: (id: string): Promise<PaymentAnswer> => pinrail.payments.read(id),

    /** Acts as the buyer and the partner of a test payment. */
    simulate: async (id: string, act: Parameters<Pinrail['test']['simulate']>[1]): Promise<void> => {
      await pinrail.test.simulate(id, act)
    },

    skipTime: async (id: string, time: Parameters<Pinrail['test']['skipTime']>[1]): Promise<void> => {
      await pinrail.test.skipTime(id, time)
    },

    /** Returns the webhooks of one payment in the inbox. Throws if a signature is wrong. */
    async events(paymentId: string): Promise<Event[]> {
      const response = await fetch(`${access.inbox_url}/deliveries`)
      const deliveries = z.array(delivery).parse(await response.json())
      const received = deliveries.filter((item) => item.status < 300 && item.body.includes(paymentId))
      return Promise.all(received.map((item) => verify(access, item)))
    },

    balance(wallet: Hex): Promise<bigint> {
      return chain.readContract({
        address: access.usdc_address as Hex,
        abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
        functionName: 'balanceOf',
        args: [wallet],
      })
    },
  }
}

/** Verifies a delivery as of the time at which it was signed, however old it is. */
function verify(access: MerchantAccess, { body, headers }: z.infer<typeof delivery>): Promise<Event> {
  return verifyWebhook(body, headers, {
    secret: access.webhook_secret,
    now: Number(headers['webhook-timestamp']) * 1000,
  })
}
