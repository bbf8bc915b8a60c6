import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { isGlobalAddress } from '../../src/webhooks/address.ts'
import { exchange } from '../../src/webhooks/exchange.ts'
import { createGuardedAgents } from '../../src/webhooks/guarded-agents.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { type Honeypot, startHoneypot, startReceiver } from './listeners.ts'
import { LOCAL_NOTATIONS, PRIVATE_ADDRESSES, PUBLIC_ADDRESSES } from './private-addresses.ts'

const body = Buffer.from('{}')
const never = new AbortController().signal
const limits = { totalMs: 2_000, connectMs: 1_000, maxBytes: 1024 }
let honeypot: Honeypot

beforeAll(async () => {
  honeypot = await startHoneypot()
})
afterAll(() => honeypot.close())

const send = (sender: ReturnType<typeof createSender>, url: string) =>
  sender.send({ endpointId: 'we_1', url, headers: {}, body }, never)

describe('webhooks into our own network', () => {
  it('never leave for a local address, however it is written', async () => {
    let tried = 0
    for (const mode of ['live', 'test'] as const) {
      const sender = createSender({ mode, testTargets: [], now: Date.now, limits })
      for (const notation of LOCAL_NOTATIONS) {
        for (const url of urlsOf(notation, honeypot.port)) {
          const { status, error } = await send(sender, url)
          expect({ url, status, error }).toEqual({ url, status: null, error: 'refused_url' })
          tried++
        }
      }
      sender.close()
    }
    expect(tried).toBeGreaterThanOrEqual(150)
    expect(honeypot.connections()).toBe(0)
  })

  it('are refused when the connection is made, even if the URL had passed', async () => {
    const agents = createGuardedAgents()
    for (const notation of LOCAL_NOTATIONS) {
      const text = `http://${notation}:${honeypot.port}/`
      if (!URL.canParse(text)) continue
      const guard = { endpointId: 'we_1', privateAllowed: false }
      const resolve = async (host: string) => (/^[a-z]/.test(host) ? [{ address: '127.0.0.1', family: 4 }] : [])
      const made = await exchange(
        { ...limits, url: new URL(text), headers: {}, body, guard },
        { agents, resolve },
        never,
      )
      expect({ notation, error: made.error }).toEqual({ notation, error: 'refused_address' })
    }
    expect(honeypot.connections()).toBe(0)
  })

  it('are refused when a public name resolves to a private address, alone or among public ones', async () => {
    for (const address of PRIVATE_ADDRESSES) {
      const family = address.includes(':') ? 6 : 4
      const publicAddress = { address: '8.8.8.8', family: 4 }
      for (const answers of [[{ address, family }], [publicAddress, { address, family }]]) {
        const lookup = async () => answers
        const sender = createSender({ mode: 'test', testTargets: [], now: Date.now, limits, lookup })
        const { error } = await send(sender, `https://shop.example:${honeypot.port}/`)
        expect({ address, error }).toEqual({ address, error: 'refused_address' })
        sender.close()
      }
    }
    expect(honeypot.connections()).toBe(0)
  })

  it('are checked again at every attempt: a name that is rebound is refused', async () => {
    const answers = ['192.0.2.1', '127.0.0.1', '::1', '10.0.0.1']
    const sender = createSender({
      mode: 'test',
      testTargets: [],
      now: Date.now,
      limits,
      lookup: async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }],
    })
    for (let attempt = 0; attempt < 5; attempt++) {
      const { error } = await send(sender, `https://rebound.example:${honeypot.port}/`)
      expect(error).toBe('refused_address')
    }
    expect(honeypot.connections()).toBe(0)
    sender.close()
  })

  it('do not follow a redirect', async () => {
    for (const code of [300, 301, 302, 303, 304, 307, 308]) {
      const receiver = await startReceiver((_request, response) => {
        response.writeHead(code, { location: `http://127.0.0.1:${honeypot.port}/` }).end()
      })
      const sender = createSender({ mode: 'test', testTargets: [receiver.target], now: Date.now, limits })
      expect(await send(sender, receiver.url)).toMatchObject({ status: code, error: 'redirect' })
      sender.close()
      await receiver.close()
    }
    expect(honeypot.connections()).toBe(0)
  })

  it('ignore a proxy in the environment', async () => {
    const receiver = await startReceiver((_request, response) => void response.writeHead(204).end())
    const proxy = `http://127.0.0.1:${honeypot.port}`
    const before = { ...process.env }
    Object.assign(process.env, { HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1' })
    const sender = createSender({ mode: 'test', testTargets: [receiver.target], now: Date.now, limits })
    expect(await send(sender, receiver.url)).toMatchObject({ status: 204 })
    process.env = before
    expect(honeypot.connections()).toBe(0)
    sender.close()
    await receiver.close()
  })

  it('reach an exact test target, and no other port or spelling of it', async () => {
    const receiver = await startReceiver((_request, response) => void response.writeHead(204).end())
    const rules = { testTargets: [receiver.target], now: Date.now, limits }
    const test = createSender({ mode: 'test', ...rules })
    const live = createSender({ mode: 'live', ...rules })
    expect(await send(test, receiver.url)).toMatchObject({ status: 204, error: null })
    expect(await send(test, receiver.url.replace('127.0.0.1', 'localhost'))).toMatchObject({ error: 'refused_url' })
    expect(await send(test, `http://127.0.0.1:${honeypot.port}/`)).toMatchObject({ error: 'refused_url' })
    expect(await send(live, receiver.url)).toMatchObject({ error: 'refused_url' })
    expect(honeypot.connections()).toBe(0)
    test.close()
    live.close()
    await receiver.close()
  })
})

describe('the list of addresses', () => {
  it('refuses everything that is not globally reachable', () => {
    expect(PRIVATE_ADDRESSES.filter((address) => isGlobalAddress(address))).toEqual([])
  })

  it('lets public addresses pass', () => {
    expect(PUBLIC_ADDRESSES.filter((address) => !isGlobalAddress(address))).toEqual([])
  })

  it('refuses what it cannot read', () => {
    for (const text of ['', 'shop.example', '8.8.8.8.', '8.8.8.8/32', '[2606:4700::1]', '1.2.3.4.5', 'fe80::1%eth0'])
      expect(isGlobalAddress(text)).toBe(false)
  })
})

function urlsOf(notation: string, port: number): string[] {
  return [`https://${notation}:${port}/`, `http://${notation}:${port}/`, `https://a.example@${notation}:${port}/`]
}
