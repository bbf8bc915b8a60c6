import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { until } from '../../scripts/test/until.ts'
import { EVENT } from '../../src/api/document/examples.ts'
import { recordEvent } from '../../src/db/webhooks/events.ts'
import { openTestApi, type TestApi } from '../api/support/test-api.ts'

/** `pinrail listen`, run as a program against the API and a server of a developer. */

const COMMAND = fileURLToPath(new URL('../../src/client/cli/main.ts', import.meta.url))
const TSX = import.meta.resolve('tsx')
const state = mkdtempSync(join(tmpdir(), 'pinrail-listen-'))

type Received = { readonly headers: Record<string, string>; readonly body: string }

let testApi: TestApi
let own: TestApi
let server: Server
let target: string
let received: Received[]
let statuses: number[]
let running: { readonly process: ChildProcess; readonly printed: () => string }[]

beforeAll(async () => {
  testApi = await openTestApi()
})
beforeEach(async () => {
  own = await testApi.asNewMerchant()
  received = []
  statuses = []
  running = []
  server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers as Record<string, string>, body })
      response.writeHead(statuses.shift() ?? 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
})
afterEach(async () => {
  for (const { process: child } of running) child.kill('SIGKILL')
  await new Promise((resolve) => server.close(resolve))
})
afterAll(async () => {
  await testApi?.close()
  rmSync(state, { recursive: true, force: true })
})

function listen(...options: string[]) {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    PINRAIL_API_KEY: own.key,
    PINRAIL_URL: testApi.url,
    XDG_STATE_HOME: state,
  }
  const child = spawn(process.execPath, ['--import', TSX, COMMAND, 'listen', '--to', target, ...options], { env })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const run = { process: child, printed: () => printed, ended }
  running.push(run)
  return run
}

const record = (type = 'payment.succeeded'): Promise<void> =>
  own.db.transaction(async (tx) => {
    const about = { type, paymentId: null, object: EVENT.data.object }
    await recordEvent(tx, { ...own.tenant, ...about, at: new Date().toISOString() })
  })
const sequences = (): number[] => received.map(({ body }) => (JSON.parse(body) as { sequence: number }).sequence)
const untilReceived = (count: number) =>
  until(
    async () => received.length,
    (seen) => seen >= count,
  )
const kill = async ({ process: child, ended }: ReturnType<typeof listen>): Promise<void> => {
  child.kill('SIGKILL')
  await ended
}

test('the first run begins with the next event, and a killed one goes on where it ended, with the same secret', async () => {
  await record()
  const first = listen()
  await until(
    async () => first.printed(),
    (printed) => printed.includes('Events after 1 are sent'),
  )
  const secret = /whsec_\S+/.exec(first.printed())?.[0] ?? ''
  await record()
  await record()
  // The place moved past the first event before the second was sent.
  await untilReceived(2)
  await kill(first)
  await record()
  const second = listen()
  await until(
    async () => sequences(),
    (seen) => seen.includes(4),
  )
  expect([...new Set(sequences())]).toEqual([2, 3, 4])
  expect(sequences().filter((sequence) => sequence === 2)).toHaveLength(1)
  expect(second.printed()).toContain(secret)
  for (const { body, headers } of received) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
})

test('an event that was refused is sent again before the next one, also after a kill', async () => {
  statuses = [500]
  const first = listen('--since', '0')
  await until(
    async () => first.printed(),
    (printed) => printed.includes('Events after 0'),
  )
  await record()
  await record()
  await untilReceived(1)
  await kill(first)
  const second = listen()
  await untilReceived(3)
  expect(sequences()).toEqual([1, 1, 2])
  expect(second.printed()).toContain('Events after 0 are sent')
})

test('with --skip-failed it goes on after a refusal, and with --types it leaves out the other types', async () => {
  statuses = [500]
  for (const type of ['payment.succeeded', 'payment.failed', 'payment.succeeded']) await record(type)
  const run = listen('--since', '0', '--skip-failed', '--types', 'payment.succeeded', '--json')
  await untilReceived(2)
  expect(sequences()).toEqual([1, 3])
  await until(
    async () => run.printed().split('\n'),
    (lines) => lines.length === 3,
  )
  expect(
    run
      .printed()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { answer: string }).answer),
  ).toEqual(['500', '200'])
})

test('it says that events are gone which are older than 90 days', async () => {
  for (let index = 0; index < 4; index++) await record()
  await own.db.query('delete from event where merchant_id = $1 and sequence in (2, 3)', [own.tenant.merchantId])
  const run = listen('--since', '0')
  await untilReceived(2)
  expect(run.printed()).toContain('Events 2 to 3 are gone')
})

test('it says what is wrong with its options, its key and its file, and ends', async () => {
  const wrong = listen('--since', 'soon')
  expect(await wrong.ended).toBe(2)
  expect(wrong.printed()).toContain('--since must be a whole number.')
  own = { ...own, key: 'nonsense' }
  const refused = listen()
  expect(await refused.ended).toBe(1)
  expect(refused.printed()).toContain('invalid_api_key')
})

test('its file is readable by its owner alone, and has the place and the secret', async () => {
  const before = new Set(readdirSync(join(state, 'pinrail')))
  const run = listen('--since', '7')
  await until(
    async () => run.printed(),
    (printed) => printed.includes('Events after 7'),
  )
  await kill(run)
  const [file = ''] = readdirSync(join(state, 'pinrail')).filter((name) => !before.has(name))
  const path = join(state, 'pinrail', file)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ sequence: 7, secret: expect.stringMatching(/^whsec_/) })
  writeFileSync(path, '{')
  const broken = listen()
  expect(await broken.ended).toBe(1)
  expect(broken.printed()).toContain('Delete it to begin with the next event')
})
