import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Request, Router } from 'express'
import { z } from 'zod'
import { isCurrency } from '../../domain/currencies.ts'
import { convertToMicroUsdc } from '../../domain/money.ts'
import { isSameSecret } from '../../runtime/constant-time.ts'
import type { Logger } from '../../runtime/log.ts'
import { openJournal } from '../journal.ts'
import { jsonBody, jsonReply, perform, type Reply, write } from '../partners/answer.ts'
import { faultRoutes } from '../partners/control-routes.ts'
import { arriving, createFaults, type Faults } from '../partners/faults.ts'
import { createTreasuryTopUp, type TreasuryTopUp, type UsdcSource } from '../treasury-top-up.ts'
import { isNearMarket, rateAt, ratesAt, slippage } from './market.ts'
import {
  applyConverterEntry,
  type ConverterEntry,
  type ConverterState,
  converterEntrySchema,
  emptyConverterState,
  type SandboxConversion,
} from './state.ts'

const PENDING_SECONDS = 5
const OLD_RATES_SECONDS = 1200
/** In percent of the amount at the requested rate. */
const OFF_RATE_PERCENT = 50
const MILLION = 1_000_000n
const SOURCE = 'sandbox'

const orderSchema = z.strictObject({
  sell_minor: z.string().regex(/^[1-9]\d{0,14}$/),
  sell_currency: z.string(),
  rate: z.string().regex(/^\d{1,12}(\.\d{1,12})?$/),
})

export type SimulatedConverter = {
  readonly router: Router
  readonly faults: Faults
  /** Null if there is no chain to deliver on. */
  readonly topUp: TreasuryTopUp | null
  readonly journalFile: string
  /** Returns the conversion of the key if it is filled by now. */
  find(key: string): SandboxConversion | null
  close(): Promise<void>
}

export type SimulatedConverterOptions = {
  readonly dataFolder: string
  readonly secret: string
  /** Sandboxes with equal seeds have equal rates. */
  readonly seed: string
  readonly clock: () => number
  readonly log: Logger
  readonly source: UsdcSource | null
}

type Deps = {
  readonly state: ConverterState
  readonly append: (...entries: ConverterEntry[]) => Promise<void>
  readonly settled: () => Promise<void>
  readonly faults: Faults
  readonly options: SimulatedConverterOptions
  readonly topUp: TreasuryTopUp | null
}

/**
 * Creates a converter that sells USDC for fiat money at about the requested rate, and delivers several fills at once.
 */
export async function createSimulatedConverter(options: SimulatedConverterOptions): Promise<SimulatedConverter> {
  const { clock, log, source } = options
  const state = emptyConverterState()
  const journal = await openJournal(join(options.dataFolder, 'converter.jsonl'), converterEntrySchema, (entry) =>
    applyConverterEntry(state, entry),
  )
  const { append, settled } = journal
  const faults = createFaults(state.faults, (...changed) =>
    append(...changed.map((fault) => ({ kind: 'fault' as const, fault }))),
  )
  const topUp = source === null ? null : createTreasuryTopUp({ state, append, source, clock, log })
  const router = routes({ state, append, settled, faults, options, topUp })
  const find = (key: string) => {
    const conversion = state.conversions.get(key)
    return conversion === undefined || conversion.filledAt > clock() ? null : conversion
  }
  return { router, faults, topUp, find, journalFile: journal.file, close: journal.close }
}

function routes(deps: Deps): Router {
  const { faults, options } = deps
  const router = Router()
  const control = Router()
  faultRoutes(control, faults)
  control.get('/conversions', (_request, response) => {
    response.json([...deps.state.conversions.values()])
  })
  control.get('/treasury', (_request, response) => {
    response.json({ outstandingMicroUsdc: deps.topUp?.outstanding() ?? null })
  })
  router.use('/sandbox', control)
  router.use('/v1', (request, response, next) => {
    if (isSameSecret(request.get('authorization') ?? '', `Bearer ${options.secret}`)) next()
    else write(response, jsonReply(401, { error: 'unauthorized' }))
  })
  router.get('/v1/rates', (_request, response) =>
    perform({ response, faults, operation: 'rates', key: '' }, async () => {
      const old = faults.take('old_rates', '')
      const madeAt = options.clock() - (old === null ? 0 : (old.seconds ?? OLD_RATES_SECONDS) * 1000)
      return jsonReply(200, {
        as_of: new Date(madeAt).toISOString(),
        source: SOURCE,
        rates: ratesAt(madeAt, options.seed),
      })
    }),
  )
  router.post('/v1/conversions', async (request, response) => {
    const key = request.get('idempotency-key') ?? ''
    await perform({ response, faults, operation: 'convert', key }, () => convert(deps, key, request))
  })
  router.post('/v1/conversions/:key/cancel', async (request, response) => {
    const { key } = request.params
    await perform({ response, faults, operation: 'cancel', key }, () => cancel(deps, key))
  })
  return router
}

/** Cancels a key: an existing conversion is still filled; without one, the key can never be converted. */
async function cancel({ state, append, settled, options }: Deps, key: string): Promise<Reply> {
  const existing = state.conversions.get(key)
  if (existing === undefined && !state.canceled.has(key)) await append({ kind: 'cancel', key })
  else await settled()
  return existing === undefined ? jsonReply(200, { status: 'canceled', key }) : describe(existing, options.clock())
}

async function convert(deps: Deps, key: string, request: Request): Promise<Reply> {
  const wanted = orderSchema.safeParse(jsonBody(request))
  if (!wanted.success || key === '' || !isCurrency(wanted.data.sell_currency))
    return jsonReply(400, { error: 'invalid order' })
  const { sell_minor: minor, sell_currency: currency, rate } = wanted.data
  const existing = deps.state.conversions.get(key)
  if (existing !== undefined) {
    await deps.settled()
    if (existing.minor !== minor || existing.currency !== currency)
      return jsonReply(409, { error: 'the key belongs to another order' })
    return describe(existing, deps.options.clock())
  }
  if (deps.state.canceled.has(key)) return jsonReply(200, { status: 'rejected', key, reason: 'the order was canceled' })
  const { clock, seed } = deps.options
  const reason = refusal(deps, { key, isFair: isNearMarket(rate, rateAt(currency, clock(), seed)) })
  // A refusal has no effect and is not stored, so the same key may be tried again.
  if (reason !== null) return jsonReply(200, { status: 'rejected', key, reason })
  const delay = deps.faults.take('delay', key)
  const offRate = deps.faults.take('fill_off_rate', key)
  const asked = convertToMicroUsdc({ minor, currency }, rate)
  const usual = ((BigInt(asked) * (MILLION + slippage(key))) / MILLION).toString()
  const conversion: SandboxConversion = {
    id: `fill_${randomBytes(12).toString('hex')}`,
    key,
    minor,
    currency,
    rate,
    boughtMicroUsdc: offRate === null ? usual : arriving(asked, offRate, OFF_RATE_PERCENT),
    filledAt: clock() + (delay === null ? 0 : (delay.seconds ?? PENDING_SECONDS) * 1000),
  }
  await deps.append({ kind: 'conversion', conversion })
  return describe(conversion, clock())
}

function refusal(deps: Deps, order: { key: string; isFair: boolean }): string | null {
  if (deps.faults.take('conversion_refused', order.key) !== null) return 'the market is closed'
  return order.isFair ? null : 'the rate is too far from the market'
}

function describe(conversion: SandboxConversion, now: number): Reply {
  const { key, id, filledAt, boughtMicroUsdc } = conversion
  const wait = Math.ceil((filledAt - now) / 1000)
  if (wait > 0) return jsonReply(200, { status: 'pending', key, retry_after_seconds: wait })
  return jsonReply(200, { status: 'filled', key, id, bought_micro_usdc: boughtMicroUsdc })
}
