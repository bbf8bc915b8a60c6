import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { freePort } from '../../scripts/system/ports.ts'
import { newId } from '../../src/ids.ts'
import { createPartners } from '../../src/providers/index.ts'
import { listen, soon } from '../providers/sandbox-server.ts'

const DEADLINE_MS = 30_000

let folder: string
const children: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-process-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
  rmSync(folder, { recursive: true })
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function start(script: string, env: Record<string, string>, url: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', `src/main/${script}`], {
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  children.push(child)
  const deadline = Date.now() + DEADLINE_MS
  while (Date.now() < deadline && child.exitCode === null) {
    const answer = await fetch(`${url}/healthz`).catch(() => null)
    if (answer?.ok === true) return child
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`${script} did not become ready`)
}

test('kill -9 under load loses nothing that was answered, and callbacks go on after it', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const told = new Set<string>()
  let isDown = true
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      if (!isDown) told.add(/att_\w+/.exec(body)?.[0] ?? '')
      response.writeHead(isDown ? 503 : 200).end()
    })
  })
  const env = {
    SANDBOX_PORT: `${port}`,
    SANDBOX_PUBLIC_URL: url,
    SANDBOX_DATA: folder,
    SANDBOX_CALLBACK_URL: await listen(receiver),
    WALLET_APP_SECRET: 'a',
    CARD_PARTNER_SECRET: 'b',
    LOCAL_PARTNER_SECRET: 'c',
    CONVERTER_SECRET: 'd',
  }
  const settings = (path: string, secret: string) => ({ url: `${url}/${path}`, account: 'pinrail', secret })
  const partner = createPartners({
    wallet_app: settings('wallet-app', 'a'),
    card_partner: settings('card-partner', 'b'),
    local_partner: settings('local-partner', 'c'),
  }).card_partner

  const first = await start('sandbox.ts', env, url)
  const answered: string[] = []
  const buy = async (): Promise<void> => {
    const attemptId = newId('attempt')
    await partner.openOrder(
      {
        attemptId,
        amount: { minor: '1000', currency: 'EUR' },
        method: 'card',
        description: 'a',
        returnUrl: 'http://127.0.0.1:9/',
        expiresAt: Math.floor(Date.now() / 1000) + 3600,
      },
      soon(),
    )
    const paid = await fetch(`${url}/card-partner/sandbox/orders/${attemptId}/act`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"action":"pay"}',
    })
    if (paid.ok) answered.push(attemptId)
    if (answered.length === 30) first.kill('SIGKILL')
  }
  await Promise.allSettled(Array.from({ length: 120 }, buy))
  await kill(first)
  expect(answered.length).toBeGreaterThanOrEqual(30)

  isDown = false
  const second = await start('sandbox.ts', env, url)
  for (const attemptId of answered) expect((await partner.readOrder({ attemptId }, soon()))?.status).toBe('paid')
  const deadline = Date.now() + DEADLINE_MS
  while (Date.now() < deadline && !answered.every((attemptId) => told.has(attemptId)))
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(answered.filter((attemptId) => !told.has(attemptId))).toEqual([])

  second.kill('SIGTERM')
  expect(await once(second, 'exit')).toEqual([0, null])
  receiver.closeAllConnections()
  receiver.close()
}, 120_000)

test('the inbox process starts, receives and ends', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const inbox = await start('inbox.ts', { INBOX_PORT: `${port}`, INBOX_DATA: folder }, url)
  expect((await fetch(`${url}/hook`, { method: 'POST', body: 'hello' })).status).toBe(401)
  expect(await (await fetch(`${url}/deliveries`)).json()).toMatchObject([
    { body: 'hello', verified: false, problem: 'no secret has been set' },
  ])
  inbox.kill('SIGTERM')
  expect(await once(inbox, 'exit')).toEqual([0, null])
}, 60_000)
