import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client, Connection } from '@temporalio/client'
import { createMerchant } from '../../../scripts/demo/merchant.ts'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { readMemory } from '../../../scripts/system/data-folder.ts'
import { type System, startSystem } from '../../../scripts/system.ts'
import { removeLeftovers } from '../../../scripts/test/services/leftovers.ts'
import { createPinrail, type Pinrail } from '../../../src/client/index.ts'
import type { Arm } from '../arm.ts'
import { percentile } from '../measure.ts'
import { createPipelineArm } from '../pipeline.ts'
import { addNeighbor, fillMerchant } from './merchants.ts'
import { type Answers, type Noise, startNoise } from './noise.ts'

const FOLDER_PREFIX = 'pinrail-neighbors-'

const BUYERS = 4
const LISTS = 40

type Sizes = {
  readonly rounds: number
  readonly payments: number
  readonly clicks: number
  readonly searches: number
  readonly pages: number
  readonly stored: number
}

/** Milliseconds that one merchant has waited. */
type Waited = { readonly list: number[]; readonly create: number[]; readonly payment: number[] }

/**
 * `npm run bench:neighbors`: measures how long one merchant waits while another one does something expensive, compared
 * with the wait alone, in turns in one run. The other one's buyer clicks 2,000 times on one checkout; the other one
 * searches 300,000 payments 20 times at once, over and over; and one of its people loads 16 pages of the dashboard at
 * once, over and over. A size of 0 leaves its case out. Prints `name value unit`, one figure a line.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const options = {
    rounds: { type: 'string', default: '3' },
    payments: { type: 'string', default: '12' },
    clicks: { type: 'string', default: '2000' },
    searches: { type: 'string', default: '20' },
    pages: { type: 'string', default: '16' },
    stored: { type: 'string', default: '300000' },
  } as const
  const { values } = parseArgs({ args, options })
  const sizes = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)])) as Sizes
  await removeLeftovers(FOLDER_PREFIX)
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  await chmod(folder, 0o755)
  process.env['LOG_LEVEL'] ??= 'error'
  // As in production, not as in `npm start`.
  process.env['API_REQUESTS_PER_SECOND'] ??= '100'
  try {
    const system = await startSystem({ dataFolder: folder, ports: 'free', progress })
    try {
      const pepper = readMemory(folder)?.secrets.apiKeyPepper ?? ''
      const key = await addNeighbor(system.info.database_url, pepper)
      progress.line(`storing ${sizes.stored} payments of the other merchant`)
      await fillMerchant(system.info.database_url, sizes.stored)
      await compare({ system, sizes, key, progress })
    } finally {
      await system.stop()
    }
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Parts = {
  readonly system: System
  readonly sizes: Sizes
  readonly key: string
  readonly progress: Progress
}

async function compare({ system, sizes, key, progress }: Parts): Promise<void> {
  const connection = await Connection.connect({ address: system.info.temporal_address })
  try {
    const client = new Client({ connection })
    const [noisy, merchant] = [createMerchant(system.info), createMerchant({ ...system.info, secret_key: key })]
    const quiet = createPinrail({ apiKey: key, baseUrl: system.info.api_url })
    const work = () => measure(quiet, createPipelineArm({ system, merchant, client }), sizes)
    const all: Readonly<Record<'clicks' | 'searches' | 'pages', () => Promise<Noise>>> = {
      clicks: () => createClicks(noisy, sizes),
      searches: async () => createSearches(system, sizes),
      pages: () => loadPages(system, sizes),
    }
    const noises = Object.entries(all).filter(([name]) => sizes[name as keyof typeof all] > 0)
    progress.line('warming up')
    await work()
    const alone: Waited[] = []
    const disturbed: Record<string, Waited[]> = {}
    const answered: Record<string, Answers[]> = {}
    for (let round = 0; round < sizes.rounds; round++)
      for (const [name, noise] of noises) {
        progress.line(`round ${round + 1} of ${sizes.rounds}: ${name}`)
        alone.push(await work())
        const running = startNoise(await noise())
        disturbed[name] = [...(disturbed[name] ?? []), await work()]
        answered[name] = [...(answered[name] ?? []), await running.stop()]
      }
    for (const line of report(alone, disturbed, answered)) process.stdout.write(`${line}\n`)
  } finally {
    await connection.close()
  }
}

/** Measures payments from the creation to the end, while lists are read. */
async function measure({ payments }: Pinrail, arm: Arm, sizes: Sizes): Promise<Waited> {
  const waited: Waited = { list: [], create: [], payment: [] }
  let left = sizes.payments
  const buyer = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1
      waited.payment.push((await arm.pay()).tookMs)
    }
  }
  const timed = async (into: number[], work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await work()
    into.push(performance.now() - began)
  }
  const callApi = async (): Promise<void> => {
    for (let count = 0; count < LISTS; count++) {
      await timed(waited.list, () => payments.list())
      await timed(waited.create, () => payments.create({ amount: '49.90', currency: 'EUR' }))
    }
  }
  await Promise.all([callApi(), ...Array.from({ length: BUYERS }, buyer)])
  return waited
}

async function createClicks(merchant: ReturnType<typeof createMerchant>, { clicks }: Sizes): Promise<Noise> {
  const { checkout_url: url } = await merchant.create({ amount: '49.90', currency: 'EUR', provider: 'wallet_app' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(url).origin }
  return { urls: [`${url}/continue`], method: 'POST', headers, body: CLICK, lanes: 24, most: clicks }
}

const CLICK = 'provider=wallet_app&method=banking_app'

function createSearches({ info }: System, { searches }: Sizes): Noise {
  const urls = [`${info.api_url}/v1/payments?search=ticket&limit=100`]
  const headers = { authorization: `Bearer ${info.secret_key}` }
  return { urls, method: 'GET', headers, body: '', lanes: searches, most: Number.MAX_SAFE_INTEGER }
}

/** Pages with lists and sums, loaded by a person who is signed in. */
const PAGES = ['', '/payments', '/balance', '/links', '/wallet', '/webhooks', '/events', '/requests']

async function loadPages({ info }: System, { pages }: Sizes): Promise<Noise> {
  const entered = await fetch(`${info.api_url}/sign-in/demo`, {
    method: 'POST',
    headers: { origin: info.api_url, 'content-type': 'application/x-www-form-urlencoded' },
    redirect: 'manual',
  })
  const cookies = entered.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  if (!cookies.some((cookie) => cookie?.includes('session='))) throw new Error(`no session: ${entered.status}`)
  const urls = PAGES.map((path) => `${info.api_url}/dashboard${path}`)
  const headers = { cookie: cookies.join('; '), accept: 'text/html' }
  return { urls, method: 'GET', headers, body: '', lanes: pages, most: Number.MAX_SAFE_INTEGER }
}

function report(
  alone: readonly Waited[],
  disturbed: Readonly<Record<string, readonly Waited[]>>,
  answered: Readonly<Record<string, readonly Answers[]>>,
): string[] {
  const lines: string[] = []
  const addFigure = (name: string, value: number, unit: string): void =>
    void lines.push(`${name} ${value.toFixed(2)} ${unit}`)
  for (const kind of ['list', 'create', 'payment'] as const) {
    const half = (rounds: readonly Waited[]): number =>
      percentile(
        rounds.flatMap((round) => round[kind]),
        0.5,
      )
    addFigure(`alone.${kind}`, half(alone), 'ms')
    for (const [name, rounds] of Object.entries(disturbed)) {
      addFigure(`${name}.${kind}`, half(rounds), 'ms')
      addFigure(`ratio.${name}.${kind}`, half(rounds) / half(alone), 'x')
    }
  }
  for (const [name, rounds] of Object.entries(answered))
    for (const status of new Set(rounds.flatMap((round) => Object.keys(round))))
      addFigure(
        `${name}.answered.${status}`,
        rounds.reduce((total, round) => total + (round[status] ?? 0), 0),
        'requests',
      )
  return lines
}
