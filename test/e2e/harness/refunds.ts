import { randomUUID } from 'node:crypto'
import { until } from '../../../scripts/demo/journey.ts'
import { ApiError, createPinrail, type Refund } from '../../../src/client/index.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { connectDevelopmentChain, mintUsdc } from '../../../src/sandbox/chain.ts'
import type { TestSystem } from './test-system.ts'

/** Without it no refund of a settled payment has an address for its USDC. */
export const WITH_ADDRESSES = { CRYPTO_DEPOSITS: 'true', DEPOSIT_SEED: Buffer.alloc(32, 5).toString('base64') }

export type Refunds = ReturnType<typeof createRefunds>

/** A merchant that refunds payments, and pays USDC for those that are settled. */
export function createRefunds({ system: { info } }: Pick<TestSystem, 'system'>) {
  const { refunds, webhookEndpoints } = createPinrail({ apiKey: info.secret_key, baseUrl: info.api_url })
  const chain = connectDevelopmentChain(info.rpc_url)
  let minting: Promise<unknown> = Promise.resolve()

  /** The endpoint of the inbox receives only the success of a payment, and a payment that is refunded has none. */
  async function receiveAllEvents(): Promise<void> {
    const { data } = await webhookEndpoints.list()
    for (const { id } of data) await webhookEndpoints.update(id, { enabled_events: ['*'] })
  }

  /** Mints one after the other, and again if the converter has minted at the same moment: both use one key. */
  async function fund(id: string): Promise<void> {
    const funding = await until(async () => {
      const { funding } = await refunds.read(id)
      return funding?.address == null ? null : funding
    }, `the address of ${id}`)
    const mint = async (): Promise<true | null> => {
      try {
        await mintUsdc(chain, { to: funding.address as Hex, micro: BigInt(funding.required_usdc.replace('.', '')) })
        return true
      } catch (error) {
        if (error instanceof Error && error.message.includes('nonce')) return null
        throw error
      }
    }
    const minted = minting.then(() => until(mint, `USDC for ${id}`))
    minting = minted.catch(() => undefined)
    await minted
  }

  /** Repeats a request that has no response with its key, and asks again with another key if it was refused. */
  function create(paymentId: string, amount?: string): Promise<Refund> {
    let idempotencyKey = randomUUID()
    return until(async () => {
      try {
        return await refunds.create(paymentId, amount === undefined ? {} : { amount }, { idempotencyKey })
      } catch (error) {
        if (error instanceof ApiError && error.code === 'not_possible_now') idempotencyKey = randomUUID()
        throw error
      }
    }, `a refund of ${paymentId}`)
  }

  /** Refunds it as soon as that is possible, by whatever money that takes; again if it was settled in between. */
  async function refund(paymentId: string, amount?: string): Promise<Refund> {
    for (;;) {
      const { id, funding } = await create(paymentId, amount)
      if (funding !== null) await fund(id)
      const ended = await until(async () => {
        const read = await refunds.read(id)
        return ['succeeded', 'failed', 'expired'].includes(read.status) ? read : null
      }, `${id} to end`)
      if (ended.status === 'succeeded') return ended
      if (ended.status_reason !== 'payment_changed') throw new Error(`${id} ended as ${ended.status}`)
    }
  }

  return { ...refunds, receiveAllEvents, fund, refund }
}
