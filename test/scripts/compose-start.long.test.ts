import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { JOURNEYS, travel } from '../../scripts/demo/journey.ts'
import { createMerchant } from '../../scripts/demo/merchant.ts'
import { measureSize } from '../../scripts/image/shrink.mjs'
import { USDC_ADDRESS } from '../../scripts/system/environment.ts'
import { until } from '../../scripts/test/until.ts'
import { getEnvironment } from './compose-file.ts'
import { addressOfHost, type Composed, composeUp, databaseUrl, mayWrite, query } from './composed.ts'

let composed: Composed
beforeAll(async () => {
  composed = await composeUp()
}, 300_000)
afterAll(() => composed?.down(), 90_000)

test('the owner of the schema is neither superuser nor able to create roles', async () => {
  const attributes =
    'select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = current_user'
  const [role] = await query(databaseUrl(composed.system, 'pinrail'), attributes)
  expect(role).toEqual({ rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolbypassrls: false })
  const owned = `select distinct tableowner as owner from pg_tables where schemaname = 'public'`
  expect(await query(databaseUrl(composed.system, 'pinrail'), owned)).toEqual([{ owner: 'pinrail' }])
})

test('the image has at most 200 MB of packages, for one machine, without TypeScript, types and source maps', () => {
  const packages = join(composed.image.folder, 'node_modules')
  expect(measureSize(packages)).toBeLessThan(200)
  const files = readdirSync(packages, { recursive: true, encoding: 'utf8' })
  expect(files.length).toBeGreaterThan(5000)
  expect(files.filter((file) => /\.(?:map|[cm]?tsx?)$/.test(file) || /^@?typescript(?:\/|$)/.test(file))).toEqual([])
  expect(readdirSync(join(packages, '@temporalio/core-bridge/releases'))).toHaveLength(1)
})

test('the user of the image is not root, and cannot write anything in it', async () => {
  const { image, system } = composed
  expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  expect(system.user?.uid ?? process.getuid?.()).not.toBe(0)
  // The files belong to the user who runs the tests, not to the user of the image.
  const files = system.user === null ? [] : ['src/main/api.ts', 'workflows.js']
  for (const file of ['new', 'node_modules/new', ...files])
    expect([file, await mayWrite(system, join(image.folder, file))]).toEqual([file, false])
})

test('api and worker each serve their health and metrics on a private port, and the public port serves no metrics', async () => {
  const { system } = composed
  for (const host of ['api:9464', 'worker:9464'] as const) {
    const answer = await fetch(`http://${addressOfHost(system, host)}/readyz`)
    expect([host, answer.status, await answer.json()]).toMatchObject([host, 200, { status: 'ready' }])
    const metrics = await (await fetch(`http://${addressOfHost(system, host)}/metrics`)).text()
    expect(metrics).toContain('process_cpu_seconds_total')
  }
  const books = await (await fetch(`http://${addressOfHost(system, 'worker:9464')}/metrics`)).text()
  expect(books).toContain('pinrail_books_readable 1')
  const sdk = await (await fetch(`http://${addressOfHost(system, 'worker:9465')}/metrics`)).text()
  expect(sdk).toContain('temporal_')
  expect((await fetch(`http://${addressOfHost(system, 'api:4242')}/metrics`)).status).toBe(404)
}, 30_000)

test('a person signs in by a link that arrives by mail', async () => {
  const { system } = composed
  const api = `http://${addressOfHost(system, 'api:4242')}`
  const body = new URLSearchParams({ email: 'ada@shop.example', to: '/dashboard' })
  const form = { method: 'POST', body, headers: { origin: api }, redirect: 'manual' } as const
  const asked = await fetch(`${api}/sign-in`, form)
  expect(asked.status).toBe(303)
  const mails = async () =>
    (await (await fetch(`http://${addressOfHost(system, 'inbox:4301')}/mails`)).json()) as {
      to: string[]
      text: string
    }[]
  const [mail] = await until(mails, (all) => all.length > 0)
  expect(mail?.to).toEqual(['ada@shop.example'])
  const [link = ''] = /http\S+/.exec(mail?.text ?? '') ?? []
  const [cookie = ''] = asked.headers.get('set-cookie')?.split(';') ?? []
  const opened = await fetch(link, { headers: { cookie } })
  expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('ada@shop.example')])
}, 30_000)

test('a payment that api and worker of the image serve is paid, settled on chain and announced', async () => {
  const { system, prepared } = composed
  const [, secretKey = ''] = /API key: (\S+)/.exec(prepared) ?? []
  const merchant = createMerchant({
    api_url: `http://${addressOfHost(system, 'api:4242')}`,
    inbox_url: `http://${addressOfHost(system, 'inbox:4301')}`,
    rpc_url: `http://${addressOfHost(system, 'anvil:8545')}`,
    usdc_address: USDC_ADDRESS,
    secret_key: secretKey,
    webhook_secret: getEnvironment('inbox')['INBOX_WEBHOOK_SECRET'] ?? '',
  })
  const sandboxUrl = `http://${addressOfHost(system, 'sandbox:4300')}`
  const payment = await travel(JOURNEYS[0]!, { merchant, sandboxUrl, say: () => undefined })
  expect(payment.status).toBe('succeeded')
  expect(payment.settlement.tx_hash).toMatch(/^0x/)
  expect(composed.writtenByApp()).toEqual([])
}, 120_000)
