import { createHmac } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { runProgram } from '../examples/running.ts'
import { fixture, open, payment, settled, useFixture } from '../workflows/story.ts'

/** Clients of BTCPay that were made elsewhere, as their registries have them, each in its own folder. */

useFixture()

/** Milliseconds: a client is installed with what it needs, over the network. */
const INSTALLED_IN = 240_000

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

function makeFolder(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'pinrail-btcpay-'))
  folders.push(folder)
  copyFileSync(fileURLToPath(new URL(`./btcpay/${program}`, import.meta.url)), join(folder, program))
  return folder
}

type Json = Record<string, unknown>
type Run = Readonly<Record<string, Json>>

const environment = () => ({
  BASE: `${fixture.api}/btcpay`,
  KEY: fixture.secretKey,
  STORE: fixture.tenant.merchantId,
  HOOK: `${fixture.inboxUrl}/btcpay`,
})

type Delivery = { readonly headers: Record<string, string>; readonly body: string; readonly path: string }

/** The webhooks of an invoice in the format of BTCPay, once there are this many. */
async function readWebhooks(invoiceId: string, webhookId: string, count: number): Promise<Delivery[]> {
  const isWanted = ({ body }: Delivery) => body.includes(`"webhookId":"${webhookId}"`) && body.includes(invoiceId)
  const all = await until(
    async () => ((await (await fetch(`${fixture.inboxUrl}/deliveries`)).json()) as Delivery[]).filter(isWanted),
    (found) => found.length >= count,
  )
  return all
}

const isSigned = ({ headers, body }: Delivery, secret: string): boolean =>
  headers['btcpay-sig'] === `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

async function payInvoice(id: string): Promise<void> {
  const attemptId = await open(id)
  await fixture.pay('wallet_app', attemptId)
  await settled(id)
  expect((await payment(id)).status).toBe('succeeded')
}

// The inbox verifies webhooks of the standard format. It accepts these as well.
beforeAll(() => fetch(`${fixture.inboxUrl}/behavior`, { method: 'POST', body: JSON.stringify({ answer: 200 }) }))

describe('npm btcpay-greenfield-node-client 1.7.0', () => {
  test(
    'it connects, sells and withdraws, and its webhooks follow the payment to the end',
    async () => {
      const folder = makeFolder('shop.cjs')
      writeFileSync(join(folder, 'package.json'), '{"private":true}')
      const client = 'btcpay-greenfield-node-client@1.7.0'
      await runProgram('npm', ['install', '--silent', '--ignore-scripts', '--no-audit', '--no-fund', client], {
        folder,
      })
      const run = JSON.parse(
        await runProgram(process.execPath, ['--no-deprecation', 'shop.cjs'], { folder, env: environment() }),
      ) as Run
      const store = fixture.tenant.merchantId
      expect(run['key']?.['permissions']).toContain(`btcpay.store.cancreateinvoice:${store}`)
      expect(run).toMatchObject({
        server: { fullySynched: true },
        stores: [{ id: store, name: 'Test Shop' }],
        webhook: { url: environment().HOOK, authorizedEvents: { everything: true } },
        invoice: { status: 'New', amount: '49.99', metadata: { orderId: 'node-1', posData: '{"cart":7}' } },
        marked: { status: 'Invalid', additionalStatus: 'Marked' },
        refused: { status: 422, body: [{ path: 'currency' }] },
        missing: { status: 404, body: { code: 'not-found' } },
      })
      expect(run['read']).toEqual(run['invoice'])
      expect(run['list']).toHaveLength(2)
      const [id, webhook] = [String(run['invoice']?.['id']), run['webhook']]
      await payInvoice(id)
      const sent = await readWebhooks(id, String(webhook?.['id']), 3)
      expect(sent.every((one) => isSigned(one, String(webhook?.['secret'])))).toBe(true)
      expect(sent.map(({ body }) => (JSON.parse(body) as Json)['type'])).toEqual([
        'InvoiceCreated',
        'InvoiceProcessing',
        'InvoiceSettled',
      ])
    },
    INSTALLED_IN,
  )
})

describe('PyPI btcpay-mcp 0.3.0', () => {
  test(
    'it connects and sells, and its webhook is signed with the secret that it chose',
    async () => {
      const folder = makeFolder('shop.py')
      const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore']
      const PYTHONWARNINGS = 'ignore'
      await runProgram('python3', ['-m', 'venv', '.venv'], { folder, env: { PYTHONWARNINGS } })
      const python = join(folder, '.venv/bin/python')
      // The server of the package was written for the first version of its library.
      await runProgram(python, [...args, 'btcpay-mcp==0.3.0', 'mcp<2'], { folder })
      const run = JSON.parse(await runProgram(python, ['shop.py'], { folder, env: environment() })) as Run
      expect(run).toMatchObject({
        stores: [{ id: fixture.tenant.merchantId }],
        methods: [{ paymentMethodId: 'USDC', enabled: true }],
        server: { version: '2.0.0' },
        webhook: {
          secret: 'a-secret-of-the-shop',
          authorizedEvents: { specificEvents: ['InvoiceSettled', 'InvoiceExpired'] },
        },
        invoice: { status: 'New', metadata: { orderId: 'python-1', itemDesc: 'Two tickets' } },
        invoice_methods: [{ due: '49.99' }],
      })
      expect([run['refused'], run['missing']]).toEqual([
        expect.stringContaining('HTTP 422'),
        expect.stringContaining('HTTP 404'),
      ])
      const [id, webhook] = [String(run['invoice']?.['id']), String(run['webhook']?.['id'])]
      expect(run['new']).toContain(id)
      await payInvoice(id)
      const sent = await readWebhooks(id, webhook, 1)
      expect(sent.map(({ body }) => (JSON.parse(body) as Json)['type'])).toEqual(['InvoiceSettled'])
      expect(isSigned(sent[0] as Delivery, 'a-secret-of-the-shop')).toBe(true)
    },
    INSTALLED_IN,
  )
})
