import { createHash, type KeyObject, randomUUID, sign } from 'node:crypto'
import { join } from 'node:path'
import { type Request, Router } from 'express'
import { z } from 'zod'
import { isSameSecret } from '../../runtime/constant-time.ts'
import { type Journal, openJournal } from '../journal.ts'
import { jsonBody, jsonReply, perform, type Reply, write } from '../partners/answer.ts'
import { faultRoutes } from '../partners/control-routes.ts'
import { createFaults, type Faults } from '../partners/faults.ts'
import {
  applyBridgeEntry,
  type BridgeEntry,
  type BridgeState,
  bridgeEntrySchema,
  emptyBridgeState,
  type SandboxTransfer,
} from './state.ts'

/** Simulates the transfers of Bridge: what src/partners/bridge uses of https://apidocs.bridge.xyz (v0). */
export type SimulatedBridge = {
  readonly router: Router
  readonly faults: Faults
  readonly transfers: () => SandboxTransfer[]
  /** Changes the state of a transfer: the bank has the money, the USDC was sent, or the transfer failed. */
  move(id: string, change: Pick<SandboxTransfer, 'state'> & Partial<Pick<SandboxTransfer, 'txHash'>>): Promise<void>
  close(): Promise<void>
}

/** After this time Bridge no longer knows a key, and refuses it. */
const KEY_MS = 24 * 60 * 60_000
const PAGE = 100

const transferRequest = z.strictObject({
  client_reference_id: z.string().min(1).max(1024),
  on_behalf_of: z.string().min(1),
  source: z.strictObject({
    payment_rail: z.enum(['ach_push', 'wire', 'sepa', 'faster_payments', 'spei']),
    currency: z.enum(['usd', 'eur', 'gbp', 'mxn']),
  }),
  destination: z.strictObject({
    payment_rail: z.literal('polygon'),
    currency: z.literal('usdc'),
    to_address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  }),
  features: z.strictObject({ flexible_amount: z.literal(true) }),
})

type Options = {
  readonly dataFolder: string
  readonly apiKey: string
  /** Unix milliseconds. */
  readonly clock: () => number
}

type Deps = {
  readonly state: BridgeState
  readonly journal: Pick<Journal<BridgeEntry>, 'append' | 'settled'>
  readonly faults: Faults
  readonly options: Options
}

export async function createSimulatedBridge(options: Options): Promise<SimulatedBridge> {
  const state = emptyBridgeState()
  const journal = await openJournal(join(options.dataFolder, 'bridge.jsonl'), bridgeEntrySchema, (entry) =>
    applyBridgeEntry(state, entry),
  )
  const faults = createFaults(state.faults, (...changed) =>
    journal.append(...changed.map((fault) => ({ kind: 'fault' as const, fault }))),
  )
  return {
    router: routes({ state, journal, faults, options }),
    faults,
    transfers: () => [...state.transfers.values()],
    async move(id, change) {
      const transfer = state.transfers.get(id)
      if (transfer === undefined) throw new Error(`there is no transfer ${id}`)
      await journal.append({ kind: 'transfer', transfer: { ...transfer, ...change } })
    },
    close: journal.close,
  }
}

function routes(deps: Deps): Router {
  const { state, faults, options } = deps
  const router = Router()
  const control = Router()
  faultRoutes(control, faults)
  router.use('/sandbox', control)
  router.use('/v0', (request, response, next) => {
    if (isSameSecret(request.get('api-key') ?? '', options.apiKey)) next()
    else write(response, jsonReply(401, { code: 'invalid_credentials' }))
  })
  router.post('/v0/transfers', async (request, response) => {
    const key = request.get('idempotency-key') ?? ''
    if (key === '') return write(response, jsonReply(400, { code: 'idempotency_key_missing' }))
    await perform({ response, faults, operation: 'open', key }, () => create(deps, request, key))
  })
  router.get('/v0/transfers/:id', async (request, response) => {
    const { id } = request.params
    await perform({ response, faults, operation: 'read', key: id }, async () => {
      const transfer = state.transfers.get(id)
      return transfer === undefined ? jsonReply(404, { code: 'not_found' }) : jsonReply(200, describe(transfer))
    })
  })
  router.get('/v0/transfers', async (request, response) => {
    await perform({ response, faults, operation: 'read', key: '' }, async () => {
      const newest = [...state.transfers.values()].toReversed()
      const after = newest.findIndex(({ id }) => id === request.query['starting_after'])
      const data = newest.slice(after + 1, after + 1 + PAGE).map(describe)
      return jsonReply(200, { count: data.length, data })
    })
  })
  return router
}

async function create({ state, journal, options }: Deps, request: Request, key: string): Promise<Reply> {
  const wanted = transferRequest.safeParse(jsonBody(request))
  if (!wanted.success) return jsonReply(400, { code: 'invalid_parameters', message: wanted.error.message })
  const body = JSON.stringify(wanted.data)
  const known = state.keys.get(key)
  if (known !== undefined) {
    await journal.settled()
    if (options.clock() - known.at > KEY_MS || known.body !== body)
      return jsonReply(422, { code: 'idempotency_key_expired' })
    return jsonReply(201, known.answer)
  }
  const transfer: SandboxTransfer = {
    id: randomUUID(),
    clientReference: wanted.data.client_reference_id,
    currency: wanted.data.source.currency,
    state: 'awaiting_funds',
    txHash: null,
  }
  const answer = describe(transfer)
  await journal.append({ kind: 'transfer', transfer }, { kind: 'key', key, at: options.clock(), body, answer })
  return jsonReply(201, answer)
}

const describe = ({ id, clientReference, currency, state, txHash }: SandboxTransfer) => ({
  id,
  client_reference_id: clientReference,
  state,
  source: { currency },
  source_deposit_instructions:
    state === 'awaiting_funds'
      ? { currency, bank_name: 'Sandbox Bank', iban: 'IE00SANDBOX', deposit_message: `BRG${id.slice(0, 8)}` }
      : null,
  receipt: { destination_tx_hash: txHash },
})

/** Signs a webhook about the transfer as Bridge does. `now`: Unix milliseconds. */
export function signBridgeEvent(
  transfer: SandboxTransfer,
  { key, now }: { readonly key: KeyObject; readonly now: number },
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const body = JSON.stringify({
    api_version: 'v0',
    event_id: `wh_${randomUUID()}`,
    event_category: 'transfer',
    event_type: 'transfer.updated.status_transitioned',
    event_object_id: transfer.id,
    event_object_status: transfer.state,
    event_object: describe(transfer),
    event_created_at: new Date(now).toISOString(),
  })
  const digest = createHash('sha256').update(`${now}.${body}`).digest()
  return { body, headers: { 'x-webhook-signature': `t=${now},v0=${sign('sha256', digest, key).toString('base64')}` } }
}
