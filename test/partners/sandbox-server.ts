import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Currency } from '../../src/domain/currencies.ts'
import type { MethodName, ProviderName } from '../../src/domain/methods.ts'
import type { CallbackAccount, DriverName, PartnerSettings } from '../../src/domain/partner/drivers.ts'
import type { RawCallback } from '../../src/domain/payment/partner.ts'
import { newId } from '../../src/ids.ts'
import { createConverter } from '../../src/partners/converter/simple-converter.ts'
import { createPartners, createReadCallback } from '../../src/partners/index.ts'
import type { Driver, OpenOrder } from '../../src/partners/provider.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts'
import type { Wire } from '../../src/sandbox/partners/wire.ts'

export const ACCOUNT = 'pinrail'
export const PATHS: Record<ProviderName, string> = {
  wallet_app: '/wallet-app',
  card_partner: '/card-partner',
  local_partner: '/local-partner',
}
/** The usual request to each partner. */
const USUAL: Record<ProviderName, { method: MethodName; currency: Currency }> = {
  wallet_app: { method: 'banking_app', currency: 'EUR' },
  card_partner: { method: 'card', currency: 'EUR' },
  local_partner: { method: 'upi', currency: 'INR' },
}

export const getSecret = (provider: ProviderName): string => `secret-of-${provider}-3f9a`

export const soon = (): AbortSignal => AbortSignal.timeout(10_000)

export type SandboxServer = Awaited<ReturnType<typeof startSandboxServer>>

/** A driver that the code does not have, and the simulator of its partner's protocol. */
export type AddedDriver = { readonly provider: ProviderName; readonly driver: Driver; readonly wire: Wire }

type Settings = PartnerSettings & CallbackAccount

type ServerOptions = {
  readonly drivers?: Partial<Record<ProviderName, DriverName>>
  readonly added?: AddedDriver
  /** Returns the URL of what stands in front of the simulators; their own if absent. */
  readonly front?: (url: string) => string
}

const SECRETS: Readonly<Record<string, string>> = {
  razorpay: 'webhook-secret-of-the-sandbox-3f9a',
  revolut: 'wsk_of_the_sandbox_3f9a',
  stripe: 'whsec_of_the_sandbox_3f9a',
}

/** The simulators on a free port, with a clock set by hand and a receiver of their callbacks. */
export async function startSandboxServer({ drivers = {}, added, front = (url) => url }: ServerOptions = {}) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  const received: { provider: string; callback: RawCallback }[] = []
  const receiver = { status: 204 }
  let now = Date.now()
  const receiving = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
      )
      const callback = { headers, body: Buffer.concat(chunks), receivedAt: Math.floor(Date.now() / 1000) }
      received.push({ provider: request.url?.split('/').pop() ?? '', callback })
      response.writeHead(receiver.status).end()
    })
  })
  const callbackUrl = await listen(receiving)

  let sandbox!: Sandbox
  let server!: Server
  let url = ''
  async function start(port: number): Promise<void> {
    sandbox = await createSandbox({
      dataFolder,
      publicUrl: () => url,
      callbackUrl,
      partners: allSettings(),
      ...(added && { wires: { [added.provider]: added.wire } }),
      converterSecret: 'secret-of-converter-3f9a',
      clock: () => now,
      log: pino({ level: 'silent' }),
    })
    server = createServer(sandbox.app)
    url = await listen(server, port)
  }
  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
    await sandbox.close()
  }
  function settings(provider: ProviderName, changes: Partial<Settings> = {}): Settings {
    const driver = drivers[provider] ?? 'simulator'
    return {
      driver,
      url: `${front(url)}${PATHS[provider]}`,
      account: ACCOUNT,
      secret: getSecret(provider),
      webhookSecrets: [SECRETS[driver] ?? getSecret(provider)],
      phone: '9876543210',
      ...changes,
    }
  }
  const allSettings = () => ({
    wallet_app: settings('wallet_app'),
    card_partner: settings('card_partner'),
    local_partner: settings('local_partner'),
  })
  await start(0)

  return {
    get sandbox() {
      return sandbox
    },
    get url() {
      return url
    },
    received,
    receiver,
    settings,
    partners: () => ({
      ...createPartners(allSettings(), () => now),
      ...(added && { [added.provider]: added.driver.connect(added.provider, settings(added.provider), () => now) }),
    }),
    readCallback(provider: ProviderName, callback: RawCallback, changes: Partial<Settings> = {}) {
      const changed = settings(provider, changes)
      if (provider === added?.provider) return added.driver.readCallback(changed, callback)
      return createReadCallback({ ...allSettings(), [provider]: changed })(provider, callback)
    },
    converter: () => createConverter({ url: `${url}/converter`, secret: 'secret-of-converter-3f9a' }),
    now: () => now,
    advance(seconds: number) {
      now += seconds * 1000
    },
    newOrder: (provider: ProviderName, changes: Partial<OpenOrder> = {}): OpenOrder => ({
      attemptId: newId('attempt'),
      amount: { minor: '499900', currency: USUAL[provider].currency },
      method: USUAL[provider].method,
      description: 'Order 17 & "more" <b>é</b> ✓',
      returnUrl: `http://127.0.0.1:9/c/${newId('payment')}`,
      expiresAt: Math.floor(now / 1000) + 3600,
      ...changes,
    }),
    async act(provider: ProviderName, attemptId: string, act: Record<string, unknown>) {
      return postJson(`${url}${PATHS[provider]}/sandbox/orders/${attemptId}/act`, act)
    },
    async fault(where: ProviderName | 'converter', fault: Record<string, unknown>) {
      const path = where === 'converter' ? '/converter' : PATHS[where]
      const answer = await postJson(`${url}${path}/sandbox/faults`, fault)
      if (answer.status !== 201) throw new Error(`the fault was refused: ${answer.text}`)
    },
    /** The callbacks of one order that have arrived since the last call. */
    async takeCallbacks(provider: ProviderName): Promise<RawCallback[]> {
      await sandbox.callbacks.flush()
      return received.splice(0).flatMap((each) => (each.provider === provider ? [each.callback] : []))
    },
    /** Kills the simulators and starts them again from their journals, on the same port. */
    async restart() {
      const port = (server.address() as AddressInfo).port
      await stop()
      await start(port)
    },
    async close() {
      await stop()
      receiving.closeAllConnections()
      receiving.close()
      rmSync(dataFolder, { recursive: true })
    },
  }
}

export async function postJson(url: string, body: unknown): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

export async function listen(server: Server, port = 0): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
