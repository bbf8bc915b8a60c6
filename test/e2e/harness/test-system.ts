import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { finalState, until } from '../../../scripts/demo/journey.ts'
import { createMerchant, type Merchant, type NewPayment, type PaymentAnswer } from '../../../scripts/demo/merchant.ts'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { readMemory } from '../../../scripts/system/data-folder.ts'
import type { Secrets } from '../../../scripts/system/secrets.ts'
import { type ChildName, type System, startSystem } from '../../../scripts/system.ts'
import { removeLeftovers } from '../../../scripts/test/services/leftovers.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import { payoutNonce } from '../../../src/evm/payout-nonce.ts'
import { type BuyerOptions, payAtCheckout } from '../../../src/sandbox/buyer.ts'
import { type Gate, openGate } from './gate.ts'

/** A dedicated whole system, as `npm start` runs it, with gates between its parts. */
export type TestSystem = {
  readonly system: System
  readonly merchant: Merchant
  readonly db: Db
  readonly temporal: Client
  /** The data folder, and the secrets that were made for it. */
  readonly folder: string
  readonly secrets: Secrets
  /** Between the platform's processes and the partners and the converter. */
  readonly partners: Gate
  /** Between the worker and the chain. */
  readonly chain: Gate
  /** The supervisor's output: each death and each restart. */
  readonly said: readonly string[]
  /** SIGKILL; resolves when the process has ended. It is started again at once, unless it must stay down. */
  readonly kill: (name: ChildName, options?: { stayDown?: boolean }) => Promise<void>
  /** Suspends the process: it answers nothing until `thaw`. */
  readonly freeze: (name: ChildName) => { readonly thaw: () => void }
  /** A text that the transaction of the payout contains. */
  readonly payoutNonce: (paymentId: string) => string
  /** Locks rows or tables until the release: a transaction that needs them waits. */
  readonly lock: (statement: string, values?: unknown[]) => Promise<DatabaseLock>
  readonly create: (body?: object) => Promise<PaymentAnswer>
  /** A merchant that repeats a request, with the same key, until it has a response. */
  readonly createPatiently: (body: NewPayment) => Promise<PaymentAnswer>
  /** A buyer who tries again when a page does not load, as people do. */
  readonly pay: (payment: PaymentAnswer, options?: BuyerOptions) => Promise<void>
  readonly stop: (options?: { keep: boolean }) => Promise<void>
}

export type DatabaseLock = {
  /** Resolves when a transaction waits for it. */
  readonly reached: Promise<void>
  readonly release: () => Promise<void>
}

export type TestSystemOptions = { readonly folder?: string; readonly env?: Readonly<Record<string, string>> }

/** Quick rounds, so that tests wait for facts and not for the next tick. */
const ENVIRONMENT = { RELAY_TICK_MS: '250', SETTLEMENT_TICK_MS: '250', LOG_LEVEL: 'info' }

const FOLDER_PREFIX = 'pinrail-e2e-'
const PATIENCE_MS = 120_000

export async function startTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  // A given folder may have been used before and wait for its second start, so nothing is removed.
  if (options.folder === undefined) await removeLeftovers(FOLDER_PREFIX)
  const folder = options.folder ?? temporaryFolder()
  const [partners, chain] = await Promise.all([openGate(), openGate()])
  const said: string[] = []
  Object.assign(process.env, ENVIRONMENT, partnersAt(partners.url), options.env)
  const system = await startSystem({
    dataFolder: folder,
    ports: 'free',
    progress: listener(said),
    workerRpcUrls: chain.url,
  }).catch(async (error: unknown) => {
    await Promise.all([partners.close(), chain.close()])
    throw error
  })
  partners.to(system.sandboxUrl)
  chain.to(system.info.rpc_url)
  const merchant = createMerchant(system.info)
  const connection = await Connection.connect({ address: system.info.temporal_address })
  const db = createDb({ url: system.info.database_url, livemode: false, pool: 4 })
  const secrets = readMemory(folder)?.secrets
  if (secrets === undefined) throw new Error(`${folder} remembers nothing`)
  const treasury = privateKeyToAddress(secrets.treasuryKey as Hex)
  const child = (name: ChildName) => {
    const found = system.children.get(name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }
  return {
    system,
    merchant,
    db,
    temporal: new Client({ connection }),
    folder,
    secrets,
    partners,
    chain,
    said,
    kill: (name, how) => child(name).kill9(how),
    freeze(name) {
      const pid = child(name).pid()
      if (pid === null) throw new Error(`${name} does not run`)
      process.kill(pid, 'SIGSTOP')
      return { thaw: () => void process.kill(pid, 'SIGCONT') }
    },
    payoutNonce(paymentId) {
      const { chain_id: chainId, usdc_address: token } = system.info
      return payoutNonce({ chainId, token: token as Hex, treasury, ownerId: paymentId }).slice(2)
    },
    lock: (statement, values = []) => lockDatabase(system.info.database_url, statement, values),
    create: (body = {}) => merchant.create({ amount: '49.90', currency: 'EUR', provider: 'wallet_app', ...body }),
    createPatiently: (body) => {
      const key = randomUUID()
      return until(() => merchant.create(body, key), 'the payment to be created', PATIENCE_MS)
    },
    pay: (payment, how) => payPatiently(merchant, payment, { sandboxUrl: system.sandboxUrl, ...how }),
    async stop({ keep } = { keep: false }) {
      await Promise.allSettled([db.close(), connection.close()])
      await system.stop()
      await Promise.all([partners.close(), chain.close()])
      if (!keep) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Open to Postgres' own user, so that all data is inside and is deleted with it. */
export function temporaryFolder(prefix = FOLDER_PREFIX): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  chmodSync(folder, 0o755)
  return folder
}

/** Sets the inbox's response; null: as usual. */
export async function inboxAnswers(testSystem: Pick<TestSystem, 'system'>, behavior: object | null): Promise<void> {
  await post(`${testSystem.system.info.inbox_url}/behavior`, behavior)
}

/** A control of the sandbox. */
export async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

/** Opens the partner's order and leaves it there; returns the attempt. */
export async function openAndLeave(
  testSystem: TestSystem,
  payment: PaymentAnswer,
  how: BuyerOptions = {},
): Promise<string> {
  const { sandboxUrl } = testSystem.system
  const left = await payAtCheckout(payment.checkout_url, { sandboxUrl, ...how, press: 'nothing' }).catch(
    (error: Error) => error.message,
  )
  if (typeof left !== 'string' || !left.includes('no form or link leads on'))
    throw new Error('nothing to leave', { cause: left })
  return (await readAttempts(testSystem, payment.id))[0]?.id ?? ''
}

export async function readAttempts(
  testSystem: Pick<TestSystem, 'db'>,
  paymentId: string,
): Promise<{ id: string; status: string }[]> {
  const { rows } = await testSystem.db.query(
    'select id, status from attempt where payment_id = $1 order by created_at',
    [paymentId],
  )
  return rows
}

/** Uses the partner's own control of an order, for the buyer or for a fault. */
export async function atPartner(
  testSystem: TestSystem,
  attemptId: string,
  act: object,
  partner = 'wallet-app',
): Promise<void> {
  await post(`${testSystem.system.sandboxUrl}/${partner}/sandbox/orders/${attemptId}/act`, act)
}

/** Waits until it has succeeded; any other end is an error. */
export async function success(testSystem: Pick<TestSystem, 'merchant'>, id: string): Promise<PaymentAnswer> {
  const payment = await finalState(testSystem.merchant, id)
  if (payment.status !== 'succeeded') throw new Error(`${id} ended as ${payment.status}`)
  return payment
}

async function lockDatabase(url: string, statement: string, values: unknown[]): Promise<DatabaseLock> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  await client.query('begin')
  await client.query(statement, values)
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const waiting = `select 1 from pg_stat_activity where ${rows[0].pid} = any(pg_blocking_pids(pid))`
  const reached = until(async () => ((await client.query(waiting)).rowCount === 0 ? null : true), 'somebody to wait')
  // A hold that was released before a transaction waited is over.
  reached.catch(() => undefined)
  return { reached: reached.then(() => undefined), release: () => client.end() }
}

async function payPatiently(merchant: Merchant, payment: PaymentAnswer, options: BuyerOptions): Promise<void> {
  await until(
    async () => {
      try {
        await payAtCheckout(payment.checkout_url, options)
        return true
      } catch (error) {
        const { status } = await merchant.read(payment.id)
        if (status !== 'created' && status !== 'pending') return true
        throw error
      }
    },
    `the buyer to pay ${payment.id}`,
    PATIENCE_MS,
  )
}

function partnersAt(url: string): Record<string, string> {
  return {
    WALLET_APP_URL: `${url}/wallet-app`,
    CARD_PARTNER_URL: `${url}/card-partner`,
    LOCAL_PARTNER_URL: `${url}/local-partner`,
    CONVERTER_URL: `${url}/converter`,
  }
}

function listener(said: string[]): Progress {
  const line = (text: string): void => void said.push(text)
  return {
    line,
    step: (name) => ({ update: () => undefined, done: () => undefined, fail: (why) => line(`${name}: ${why}`) }),
  }
}
