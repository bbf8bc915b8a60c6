import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import express, { type ErrorRequestHandler, type Express } from 'express'
import type { ProviderName } from '../domain/methods.ts'
import type { CallbackAccount, DRIVERS, PartnerSettings } from '../domain/partner/drivers.ts'
import type { Logger } from '../runtime/log.ts'
import { createSimulatedBridge, type SimulatedBridge } from './bridge/bridge.ts'
import { createSimulatedConverter, type SimulatedConverter } from './converter/simulated-converter.ts'
import { STYLESHEET, STYLESHEET_PATH } from './html.ts'
import { cardPartner } from './partners/card-partner.ts'
import { cashfreeWire } from './partners/cashfree/cashfree.ts'
import { localPartner } from './partners/local-partner.ts'
import { razorpayWire } from './partners/razorpay/razorpay.ts'
import { revolutWire } from './partners/revolut/revolut.ts'
import { createSimulatedPartner, type SimulatedPartner } from './partners/simulated-partner.ts'
import { stripeWire } from './partners/stripe/stripe.ts'
import { walletApp } from './partners/wallet-app.ts'
import type { Wire } from './partners/wire.ts'
import type { UsdcSource } from './treasury-top-up.ts'
import { type SendUsdc, usdcWallet } from './usdc-wallet.ts'

export type SandboxOptions = {
  readonly dataFolder: string
  readonly publicUrl: () => string
  /** Callbacks go to `<url>/callbacks/<provider>`. */
  readonly callbackUrl: string
  /** The platform's account at each partner, and the driver whose protocol its simulator speaks. */
  readonly partners: Readonly<Record<ProviderName, SandboxAccount>>
  /** Protocols that replace those of the drivers. */
  readonly wires?: Readonly<Partial<Record<ProviderName, Wire>>>
  readonly converterSecret: string
  /** Authenticates calls to Bridge. */
  readonly bridgeKey?: string
  readonly marketSeed?: string
  /** Without it, bought USDC is not delivered. */
  readonly source?: UsdcSource | null
  /** Pays in USDC on the development chain; null without one. */
  readonly sendUsdc?: SendUsdc | null
  /** Milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

/** `driver`: `simulator` if absent. The first webhook secret signs callbacks; without one, `secret` does. */
export type SandboxAccount = Pick<PartnerSettings, 'account' | 'secret'> &
  Partial<Pick<CallbackAccount, 'driver' | 'webhookSecrets'>>

type Wires = { readonly [Name in ProviderName]: Readonly<Record<(typeof DRIVERS)[Name][number], Wire>> }

const WIRES: Wires = {
  wallet_app: { simulator: walletApp, revolut: revolutWire, stripe: stripeWire('wallet_app', '/wallet-app') },
  card_partner: { simulator: cardPartner, stripe: stripeWire('card_partner', '/card-partner') },
  local_partner: { simulator: localPartner, razorpay: razorpayWire, cashfree: cashfreeWire },
}

export type Sandbox = {
  readonly app: Express
  readonly partners: Readonly<Record<ProviderName, SimulatedPartner>>
  readonly converter: SimulatedConverter
  readonly bridge: SimulatedBridge
  readonly journal: Readonly<Record<ProviderName | 'converter', string>>
  /** Applies to every order what time has changed, and sends callbacks until none is due. */
  readonly callbacks: { flush(): Promise<void> }
  /** Starts callbacks, expiries and top-ups that happen automatically. */
  run(): void
  close(): Promise<void>
}

const SWEEP_MS = 500
const TOP_UP_MS = 2000

/** Creates the simulators of partners and converter in one Express app. Nothing happens automatically before `run`. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { clock, log } = options
  let onChange = (): void => undefined
  const closing = new AbortController()
  // Every callback in flight has a listener.
  setMaxListeners(0, closing.signal)
  const shared = { ...options, onChange: () => onChange(), closing: closing.signal }
  const simulate = (provider: ProviderName): Promise<SimulatedPartner> => {
    const {
      driver = 'simulator',
      account,
      secret,
      webhookSecrets: [webhookSecret = secret] = [],
    } = options.partners[provider]
    const known: Readonly<Partial<Record<PartnerSettings['driver'], Wire>>> = WIRES[provider]
    const wire = options.wires?.[provider] ?? known[driver]
    if (wire === undefined) throw new Error(`${provider} has no driver ${driver}`)
    return createSimulatedPartner(wire, { ...shared, account, secret, webhookSecret })
  }
  const [wallet, card, local, converter, bridge] = await Promise.all([
    simulate('wallet_app'),
    simulate('card_partner'),
    simulate('local_partner'),
    createSimulatedConverter({
      dataFolder: options.dataFolder,
      secret: options.converterSecret,
      seed: options.marketSeed ?? 'sandbox',
      clock,
      log,
      source: options.source ?? null,
    }),
    createSimulatedBridge({
      dataFolder: options.dataFolder,
      apiKey: options.bridgeKey ?? randomUUID(),
      clock,
    }),
  ])
  const partners = { wallet_app: wallet, card_partner: card, local_partner: local }
  const all = Object.values(partners)
  const flush = async (): Promise<void> => {
    await Promise.all(all.map((partner) => partner.book.sweep()))
    await Promise.all(all.map((partner) => partner.callbacks.flush()))
  }
  const timers = createTimers(log)

  return {
    app: createApp(all, { converter, bridge, sendUsdc: options.sendUsdc ?? null }),
    partners,
    converter,
    bridge,
    journal: {
      wallet_app: wallet.journalFile,
      card_partner: card.journalFile,
      local_partner: local.journalFile,
      converter: converter.journalFile,
    },
    callbacks: { flush },
    run() {
      onChange = timers.now(flush)
      timers.every(SWEEP_MS, flush)
      if (converter.topUp !== null) timers.every(TOP_UP_MS, converter.topUp.tick)
    },
    async close() {
      closing.abort()
      await timers.stop()
      await Promise.all([...all, converter, bridge].map((part) => part.close()))
    },
  }
}

function createApp(
  partners: readonly SimulatedPartner[],
  others: Pick<Sandbox, 'converter' | 'bridge'> & { readonly sendUsdc: SendUsdc | null },
): Express {
  const { converter, bridge, sendUsdc } = others
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  app.get(STYLESHEET_PATH, (_request, response) => {
    response.type('css').send(STYLESHEET)
  })
  // Signatures cover the bytes as received.
  // As much as a partner takes of evidence.
  app.use(express.raw({ type: () => true, limit: '6mb' }))
  for (const { wire, router } of partners) app.use(wire.path, router)
  app.use('/converter', converter.router)
  app.use('/bridge', bridge.router)
  if (sendUsdc !== null) app.use('/usdc-wallet', usdcWallet(sendUsdc))
  app.use((_request, response) => {
    response.status(404).json({ error: 'no such path in the sandbox' })
  })
  app.use(answerError)
  return app
}

/** Express passes its own errors (a body too large, a path that cannot be decoded) with their status. */
// oxlint-disable-next-line max-params -- Express recognizes an error handler by its four parameters.
const answerError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error)
  const status = error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500
  response
    .status(status)
    .json({ error: status < 500 ? 'the request cannot be read' : 'the sandbox failed; its log has the error' })
}

/** Repeats jobs, never two runs of one job at once. `stop` waits for all of them. */
function createTimers(log: Logger) {
  const intervals: NodeJS.Timeout[] = []
  const running = new Set<Promise<void>>()
  let isStopped = false

  function start(work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) => log.warn({ err: error }, 'a job of the sandbox failed and is repeated'))
      .finally(() => running.delete(done))
    running.add(done)
  }

  return {
    every(milliseconds: number, work: () => Promise<void>): void {
      let isBusy = false
      const timer = setInterval(() => {
        if (isBusy) return
        isBusy = true
        start(() =>
          work().finally(() => {
            isBusy = false
          }),
        )
      }, milliseconds)
      intervals.push(timer)
    },
    /** Returns a function that runs a job soon after a call; several calls at once run it once. */
    now(work: () => Promise<void>): () => void {
      let isAsked = false
      return () => {
        if (isAsked || isStopped) return
        isAsked = true
        setImmediate(() => {
          isAsked = false
          if (!isStopped) start(work)
        })
      }
    },
    async stop(): Promise<void> {
      isStopped = true
      for (const timer of intervals) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
