import type { z } from 'zod'
import type { Currency } from '../../domain/currencies.ts'
import type { Hex } from '../../domain/hex.ts'
import type { RefillPartner, RefillTransfer } from '../../domain/settlement/refill.ts'
import { ask, type HttpAnswer, unclear } from '../http.ts'
import { readAs, readOk } from '../reading.ts'
import { RAILS, type Transfer, transferSchema, transfersSchema } from './wire.ts'

const NAME = 'bridge'

/** Bridge refuses a key after 24 hours. One hour is left for clock differences and slow answers. */
const KEY_MS = 23 * 60 * 60_000

/** The transfers of one page, the most that Bridge gives. More than a year of daily refills in four currencies. */
const LISTED = 100
const MAX_PAGES = 20

export type BridgeSettings = {
  readonly url: string
  readonly apiKey: string
  /** The company at Bridge for which money is exchanged. */
  readonly customer: string
  readonly treasury: Hex
}

/**
 * Exchanges money into USDC on Polygon by transfers (https://apidocs.bridge.xyz/docs/transfers). The sum is open: Bridge
 * exchanges what arrives under the instructions of the transfer, because partners settle less than buyers paid.
 */
export function createBridge({ url, apiKey, customer, treasury }: BridgeSettings): RefillPartner {
  const headers = { accept: 'application/json', 'api-key': apiKey }

  async function get<T extends z.ZodType>(path: string, schema: T, signal: AbortSignal): Promise<z.infer<T>> {
    return readOk(NAME, schema, await ask({ to: NAME, method: 'GET', url: `${url}/v0${path}`, headers }, signal))
  }

  return {
    name: NAME,
    currencies: Object.keys(RAILS) as Currency[],
    keyMs: KEY_MS,
    async request({ id, money: { currency } }, signal) {
      const body = JSON.stringify({
        client_reference_id: id,
        on_behalf_of: customer,
        source: { payment_rail: RAILS[currency], currency: currency.toLowerCase() },
        destination: { payment_rail: 'polygon', currency: 'usdc', to_address: treasury },
        features: { flexible_amount: true },
      })
      const keyed = { ...headers, 'content-type': 'application/json', 'idempotency-key': id }
      const answer = await ask({ to: NAME, method: 'POST', url: `${url}/v0/transfers`, headers: keyed, body }, signal)
      if (answer.status !== 200 && answer.status !== 201) throw unclear(NAME, `answered ${answer.status} to a request`)
      return toRefillTransfer(readOwn(answer, id))
    },
    async read(reference, signal) {
      const transfer = await get(`/transfers/${encodeURIComponent(reference)}`, transferSchema, signal)
      if (transfer.id !== reference) throw unclear(NAME, 'answered about another transfer')
      return toRefillTransfer(transfer)
    },
    async find(refillId, signal) {
      let after = ''
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const { data } = await get(`/transfers?limit=${LISTED}${after}`, transfersSchema, signal)
        const found = data.find((transfer) => transfer.client_reference_id === refillId)
        if (found !== undefined) return toRefillTransfer(found)
        const last = data.at(-1)
        if (last === undefined || data.length < LISTED) return null
        after = `&starting_after=${encodeURIComponent(last.id)}`
      }
      throw unclear(NAME, `lists more than ${LISTED * MAX_PAGES} transfers`)
    },
  }
}

function readOwn(answer: HttpAnswer, id: string): Transfer {
  const transfer = readAs(NAME, transferSchema, answer)
  if (transfer.client_reference_id !== id) throw unclear(NAME, 'answered about another refill')
  return transfer
}

/** https://apidocs.bridge.xyz/docs/transfer-states. Any other state needs an operator. */
const STATES: Readonly<Record<string, RefillTransfer['state']>> = {
  awaiting_funds: 'awaits_money',
  in_review: 'moving',
  funds_received: 'moving',
  payment_submitted: 'moving',
  payment_processed: 'sent',
  refunded: 'ended',
  canceled: 'ended',
}

function toRefillTransfer({ id, state: word, source_deposit_instructions: to, receipt }: Transfer): RefillTransfer {
  const state = STATES[word] ?? 'stuck'
  // An earlier hash might be replaced.
  const hash = state === 'sent' ? (receipt?.destination_tx_hash?.toLowerCase() ?? null) : null
  if (hash !== null && !/^0x[0-9a-f]{64}$/.test(hash)) throw unclear(NAME, 'answered with a hash that is none')
  return {
    reference: id,
    state,
    word,
    instructions: state === 'awaits_money' && to ? describeInstructions(to) : null,
    txHash: hash as Hex | null,
  }
}

const describeInstructions = (instructions: Readonly<Record<string, unknown>>): string =>
  Object.entries(instructions)
    .flatMap(([name, value]) => (typeof value === 'string' ? `${name.replaceAll('_', ' ')}: ${value}` : []))
    .join('; ')
    .slice(0, 1000)
