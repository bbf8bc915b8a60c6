import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { freePort } from '../../scripts/system/ports.ts'
import { newId } from '../../src/ids.ts'
import { createPartners } from '../../src/partners/index.ts'
import { openJournal } from '../../src/sandbox/journal.ts'
import { listen, soon } from '../partners/sandbox-server.ts'

let folder: string

describe('the journal', () => {
  const schema = z.object({ n: z.int() })
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'journal-'))
    file = join(folder, 'new', 'journal.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const open = async () => {
    const seen: number[] = []
    const journal = await openJournal(file, schema, (entry) => seen.push(entry.n))
    return { journal, seen }
  }

  test('the journal returns appended entries after a restart, in order', async () => {
    const first = await open()
    await Promise.all(Array.from({ length: 200 }, (_, n) => first.journal.append({ n })))
    await first.journal.append({ n: 200 }, { n: 201 })
    await first.journal.close()
    const second = await open()
    expect(second.seen).toEqual(Array.from({ length: 202 }, (_, n) => n))
    await second.journal.close()
  })

  test('an entry is in the journal’s file when the append resolves', async () => {
    const { journal } = await open()
    await journal.append({ n: 7 })
    expect(readFileSync(file, 'utf8')).toBe('[{"n":7}]\n')
    await journal.close()
  })

  test('the state has an entry at once, and `settled` waits for the disk', async () => {
    const { journal, seen } = await open()
    void journal.append({ n: 1 })
    expect(seen).toEqual([1])
    await journal.settled()
    expect(readFileSync(file, 'utf8')).toContain('"n":1')
    await journal.close()
  })

  test('a line that was cut off by a crash is dropped, and the journal continues after it', async () => {
    const first = await open()
    await first.journal.append({ n: 1 })
    await first.journal.close()
    appendFileSync(file, '[{"n":2},{"n"')
    const second = await open()
    expect(second.seen).toEqual([1])
    await second.journal.append({ n: 3 })
    await second.journal.close()
    const third = await open()
    expect(third.seen).toEqual([1, 3])
    await third.journal.close()
  })

  test('a damaged line in the middle of the journal is reported with its number', async () => {
    const { journal } = await open()
    await journal.append({ n: 1 })
    await journal.close()
    writeFileSync(file, '[{"n":1}]\n[{"m":2}]\n[{"n":3}]\n')
    await expect(open()).rejects.toThrow('line 2 is not an entry')
  })
})

describe('Processes that are killed', () => {
  const DEADLINE_MS = 30_000
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

  test('kill -9 under load loses no acknowledged order, and callbacks continue after the restart', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const notified = new Set<string>()
    let isDown = true
    const receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      request.on('end', () => {
        if (!isDown) notified.add(/att_\w+/.exec(body)?.[0] ?? '')
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
      WALLET_APP_WEBHOOK_SECRETS: 'a',
      CARD_PARTNER_WEBHOOK_SECRETS: 'b',
      LOCAL_PARTNER_WEBHOOK_SECRETS: 'c',
      CONVERTER_SECRET: 'd',
    }
    const settings = (path: string, secret: string) => ({
      driver: 'simulator' as const,
      url: `${url}/${path}`,
      account: 'pinrail',
      secret,
      webhookSecrets: [secret],
    })
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
    for (const attemptId of answered)
      expect((await partner.readOrder({ attemptId, reference: null }, soon()))?.status).toBe('paid')
    const deadline = Date.now() + DEADLINE_MS
    while (Date.now() < deadline && !answered.every((attemptId) => notified.has(attemptId)))
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(answered.filter((attemptId) => !notified.has(attemptId))).toEqual([])

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
})
