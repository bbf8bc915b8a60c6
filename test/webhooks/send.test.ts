import { createHook } from 'node:async_hooks'
import dgram, { type RemoteInfo } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { setMaxListeners } from 'node:events'
import type http from 'node:http'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { isGlobalAddress } from '../../src/outbound/address.ts'
import { exchange } from '../../src/outbound/exchange.ts'
import { createGuardedAgents } from '../../src/outbound/guarded-agents.ts'
import { createNameServers } from '../../src/outbound/resolve.ts'
import { createSender, type Sender, type SendLimits } from '../../src/webhooks/send.ts'
import {
  drip,
  type Honeypot,
  type Receiver,
  selfSigned,
  startHoneypot,
  startRawReceiver,
  startReceiver,
  until,
} from './listeners.ts'
import { LOCAL_NOTATIONS, PRIVATE_ADDRESSES, PUBLIC_ADDRESSES } from './private-addresses.ts'

const never = new AbortController().signal

describe('sending', () => {
  const body = Buffer.from('{"id":"evt_1","text":"Zażółć"}')
  const headers = { 'webhook-id': 'evt_1', 'webhook-signature': 'v1,abc' }
  // Forty requests at once share it below.
  setMaxListeners(100, never)
  const limits: SendLimits = { totalMs: 400, connectMs: 300, maxBytes: 16 * 1024 }

  const opened: { close(): unknown }[] = []
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  })

  function senderTo(receiver: Receiver, changed: Partial<SendLimits> = {}, others: readonly string[] = []): Sender {
    const rules = { mode: 'test', testTargets: [receiver.target, ...others], now: Date.now } as const
    const sender = createSender({ ...rules, limits: { ...limits, ...changed } })
    opened.push(receiver, sender)
    return sender
  }

  const post = (sender: Sender, receiver: Receiver, endpointId = 'we_1') =>
    sender.send({ endpointId, url: receiver.url, headers, body }, never)

  describe('Sending a webhook', () => {
    it('a webhook has the exact bytes with the platform’s headers and nothing of the environment', async () => {
      const seen: { method?: string; url?: string; headers?: http.IncomingHttpHeaders; body?: Buffer } = {}
      const receiver = await startReceiver(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        Object.assign(seen, { method: request.method, url: request.url, headers: request.headers })
        seen.body = Buffer.concat(chunks)
        response.writeHead(204).end()
      })
      const result = await post(senderTo(receiver), receiver)
      expect(result).toMatchObject({ status: 204, error: null, retryAfterSeconds: null, bodyExcerpt: '' })
      expect(result.bytesSent).toBeGreaterThan(body.length)
      expect(seen.body?.equals(body)).toBe(true)
      expect(seen.method).toBe('POST')
      expect(seen.url).toBe('/hooks')
      expect(seen.headers).toEqual({
        ...headers,
        'content-type': 'application/json',
        'content-length': String(body.length),
        'accept-encoding': 'identity',
        'user-agent': 'Pinrail-Webhooks/1',
        host: receiver.target,
        connection: 'keep-alive',
      })
    })

    it('a webhook accepts any status as a response and reads Retry-After', async () => {
      const answers = [
        [200, null],
        [404, null],
        [429, '120'],
        [503, new Date(Date.now() + 60_000).toUTCString()],
        [500, '-5'],
        [500, 'soon'],
      ] as const
      let round = 0
      const receiver = await startReceiver((_request, response) => {
        const [status, retryAfter] = answers[round++]!
        response.writeHead(status, retryAfter === null ? {} : { 'retry-after': retryAfter }).end('thanks')
      })
      const sender = senderTo(receiver)
      const results = []
      for (const _ of answers) results.push(await post(sender, receiver))
      expect(results.map(({ status, error }) => [status, error])).toEqual(answers.map(([status]) => [status, null]))
      const [ok, missing, busy, down, negative, words] = results.map((result) => result.retryAfterSeconds)
      expect([ok, missing, busy, negative, words]).toEqual([null, null, 120, null, null])
      expect(down).toBeGreaterThan(55)
      expect(down).toBeLessThanOrEqual(60)
    })

    it('a webhook’s logged response is short, printable, and without secrets', async () => {
      const receiver = await startReceiver((_request, response) => {
        response.writeHead(400, {
          'set-cookie': 'session=1',
          'www-authenticate': 'Digest nonce="of-theirs"',
          'x-echo': 'Bearer abc.def',
          'x-long': 'x'.repeat(5000),
        })
        response.end(
          `bad\u0000\u001b[31m\u202e signature v1,${'A'.repeat(44)} for whsec_${'B'.repeat(43)}= ${'ż'.repeat(3000)}`,
        )
      })
      const { bodyExcerpt, headers: logged } = await post(senderTo(receiver), receiver)
      expect(bodyExcerpt).toMatch(/^bad\[31m signature \[masked\] for \[masked\] ż+$/)
      expect(bodyExcerpt.length).toBeLessThanOrEqual(2048)
      expect([logged['set-cookie'], logged['www-authenticate']]).toEqual([undefined, undefined])
      expect(logged['x-echo']).toBe('[masked]')
      expect(logged['x-long']).toHaveLength(256)
    })
  })

  describe('A receiver that takes its time', () => {
    it('a receiver that sends no head is cut off after the total time', async () => {
      const receiver = await startReceiver(() => undefined)
      const started = Date.now()
      expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'timeout' })
      expect(Date.now() - started).toBeLessThan(1500)
    })

    it('a receiver that drips its head byte by byte is cut off', async () => {
      const receiver = await startRawReceiver((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ', 'x'))
      expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'timeout' })
    })

    it('a receiver that drips its body is cut off, and the 200 does not count', async () => {
      const receiver = await startRawReceiver((socket) =>
        drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', '.'),
      )
      expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: 200, error: 'timeout' })
    })

    it('a receiver is cut off sooner if the request has less time than the sender’s limit', async () => {
      const receiver = await startReceiver(() => undefined)
      const sender = senderTo(receiver, { totalMs: 30_000 })
      const request = { endpointId: 'we_1', url: receiver.url, headers, body, totalMs: 100 }
      const result = await sender.send(request, never)
      expect(result).toMatchObject({ status: null, error: 'timeout' })
      expect(result.durationMs).toBeLessThan(15_000)
    })

    it('a receiver that never finishes the handshake is cut off', async () => {
      const receiver = await startRawReceiver(() => undefined)
      const sender = senderTo(receiver, { connectMs: 100, totalMs: 5_000 })
      const started = Date.now()
      const request = { endpointId: 'we_1', url: receiver.url.replace('http:', 'https:'), headers, body }
      expect(await sender.send(request, never)).toMatchObject({ status: null, error: 'timeout', bytesSent: 0 })
      expect(Date.now() - started).toBeLessThan(1500)
    })

    it('a slow receiver does not delay the responses of others', async () => {
      const hung = await startReceiver(() => undefined)
      const healthy = await startReceiver((_request, response) => void response.writeHead(204).end())
      const sender = senderTo(healthy, { totalMs: 4000, connectMs: 4000 }, [hung.target])
      opened.push(hung)
      let given = 0
      const stuck = Array.from({ length: 40 }, () => post(sender, hung, 'we_hung').finally(() => given++))
      const fine = await Promise.all(Array.from({ length: 40 }, () => post(sender, healthy, 'we_fine')))
      expect([fine.every(({ status }) => status === 204), given]).toEqual([true, 0])
      expect((await Promise.all(stuck)).every(({ error }) => error === 'timeout')).toBe(true)
    })
  })

  describe('A receiver that answers too much', () => {
    it('a receiver’s endless body is read for 16 KiB, then cut', async () => {
      let written = 0
      let cut = false
      const receiver = await startReceiver((_request, response) => {
        response.writeHead(200)
        response.on('close', () => {
          cut = true
        })
        const chunk = Buffer.alloc(64 * 1024, 'x')
        const pour = () => {
          while (!response.destroyed && response.write(chunk)) written += chunk.length
        }
        response.on('drain', pour)
        pour()
      })
      const before = process.memoryUsage().rss
      const result = await post(senderTo(receiver, { totalMs: 5_000 }), receiver)
      expect(result).toMatchObject({ status: 200, error: null })
      expect(result.bodyExcerpt).toHaveLength(2048)
      await until(() => cut)
      expect(written).toBeLessThan(32 * 1024 * 1024)
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
    })

    it('a receiver with an endless head is refused', async () => {
      const receiver = await startRawReceiver((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const pour = () => {
          while (!socket.destroyed && socket.write(`x-filler: ${'y'.repeat(1000)}\r\n`)) continue
        }
        socket.on('drain', pour)
        pour()
      })
      expect(await post(senderTo(receiver, { totalMs: 5_000 }), receiver)).toMatchObject({
        status: null,
        error: 'protocol',
      })
    })

    it('a receiver’s response is never decompressed', async () => {
      const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024))
      const receiver = await startReceiver((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
      })
      const before = process.memoryUsage().rss
      const result = await post(senderTo(receiver, { totalMs: 5_000 }), receiver)
      expect(result).toMatchObject({ status: 200, bodyExcerpt: '[compressed: not shown]' })
      expect(process.memoryUsage().rss - before).toBeLessThan(16 * 1024 * 1024)
    })

    it('a receiver that does not speak HTTP is an error', async () => {
      const receiver = await startRawReceiver((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
      expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'protocol' })
    })
  })

  describe('Connections to receivers', () => {
    it('connections are kept for the next event of the endpoint and never shared with another endpoint', async () => {
      const ports: (number | undefined)[] = []
      const receiver = await startReceiver((request, response) => {
        ports.push(request.socket.remotePort)
        request.resume().on('end', () => response.writeHead(204).end())
      })
      const sender = senderTo(receiver)
      for (const endpoint of ['we_1', 'we_1', 'we_2', 'we_2', 'we_1']) await post(sender, receiver, endpoint)
      expect(ports[1]).toBe(ports[0])
      expect(ports[2]).not.toBe(ports[0])
      expect(ports[3]).toBe(ports[2])
      expect(ports[4]).toBe(ports[0])
    })

    it('connections carry at most ten requests of an endpoint at once', async () => {
      let [now, most] = [0, 0]
      const receiver = await startReceiver((request, response) => {
        most = Math.max(most, ++now)
        request.resume().on('end', () =>
          setImmediate(() => {
            now--
            response.writeHead(204).end()
          }),
        )
      })
      const sender = senderTo(receiver, { totalMs: 5_000 })
      const results = await Promise.all(Array.from({ length: 100 }, () => post(sender, receiver)))
      expect(results.every(({ status }) => status === 204)).toBe(true)
      expect(most).toBeLessThanOrEqual(10)
    })

    it('connections that the receiver had closed just before are replaced at once', async () => {
      let requests = 0
      const receiver = await startRawReceiver((socket) => {
        socket.on('data', () => {
          requests++
          // The first connection promises to stay, and closes when it is used a second time.
          if (requests === 2) socket.destroy()
          else socket.write('HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n')
        })
      })
      const sender = senderTo(receiver)
      expect(await post(sender, receiver)).toMatchObject({ status: 204 })
      expect(await post(sender, receiver)).toMatchObject({ status: 204, error: null })
      expect(requests).toBe(3)
    })

    it('connections that fail at once are tried twice, and nothing was sent', async () => {
      const receiver = await startReceiver(() => undefined)
      const sender = senderTo(receiver)
      await receiver.close()
      opened.splice(0, 1)
      expect(await post(sender, receiver)).toMatchObject({ status: null, error: 'connect', bytesSent: 0 })
    })

    it('connections that break after the request was sent are not tried again: the receiver may have it', async () => {
      let requests = 0
      const receiver = await startRawReceiver((socket) =>
        socket.on('data', () => {
          requests++
          socket.destroy()
        }),
      )
      expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'connect' })
      expect(requests).toBe(1)
    })

    it('connections to a name that does not exist report that', async () => {
      const lookup = async () => {
        throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
      }
      const sender = createSender({ mode: 'live', testTargets: [], now: Date.now, limits, lookup })
      opened.push(sender)
      const request = { endpointId: 'we_1', url: 'https://shop.example/', headers, body }
      expect(await sender.send(request, never)).toMatchObject({ status: null, error: 'dns' })
    })

    it('connections to a server that cannot prove its name are refused before anything is sent', async () => {
      const { key, cert } = selfSigned()
      let data = 0
      const server = tls.createServer({ key, cert }, (socket) => socket.on('data', () => data++))
      server.on('tlsClientError', () => undefined)
      const receiver = await startRawReceiver((socket) => server.emit('connection', socket))
      const request = { endpointId: 'we_1', url: receiver.url.replace('http:', 'https:'), headers, body }
      expect(await senderTo(receiver).send(request, never)).toMatchObject({ status: null, error: 'tls', bytesSent: 0 })
      expect(data).toBe(0)
    })

    it('connections end when the worker stops, which does not count as a response of the receiver', async () => {
      const receiver = await startReceiver(() => stop.abort(new Error('the worker is shutting down')))
      const stop = new AbortController()
      const sender = senderTo(receiver, { totalMs: 5_000 })
      const sending = sender.send({ endpointId: 'we_1', url: receiver.url, headers, body }, stop.signal)
      await expect(sending).rejects.toThrow('the worker is shutting down')
      const late = sender.send({ endpointId: 'we_1', url: receiver.url, headers, body }, stop.signal)
      await expect(late).rejects.toThrow('the worker is shutting down')
    })
  })
})

describe('Names of endpoints', () => {
  const A = 1
  const AAAA = 28
  /** More names than the process has threads. */
  const SILENT_NAMES = 64

  const opened: dgram.Socket[] = []
  afterEach(() => {
    for (const socket of opened.splice(0)) socket.close()
  })

  type Answers = Readonly<Record<number, readonly Uint8Array[]>>

  /** A name server on this machine; null: it is silent. Returns its address, and counts its queries. */
  async function startNameServer(answers: Answers | null) {
    const socket = dgram.createSocket('udp4')
    opened.push(socket)
    let asked = 0
    socket.on('message', (question: Buffer, from: RemoteInfo) => {
      asked++
      if (answers !== null) socket.send(answerTo(question, answers), from.port, from.address)
    })
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    return { address: `127.0.0.1:${socket.address().port}`, asked: () => asked }
  }

  /** RFC 1035, 4: the question again, and an answer of one minute for each address. */
  function answerTo(question: Buffer, answers: Answers): Buffer {
    const nameEnd = question.indexOf(0, 12)
    const type = question.readUInt16BE(nameEnd + 1)
    const found = answers[type] ?? []
    const head = Buffer.from(question.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt32BE(0, 8)
    const records = found.map((address) =>
      Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length]), address]),
    )
    return Buffer.concat([head, question.subarray(12, nameEnd + 5), ...records])
  }

  describe('The names of endpoints', () => {
    it('names are resolved to the addresses of both families', async () => {
      const server = await startNameServer({
        [A]: [Buffer.from([203, 0, 113, 7])],
        [AAAA]: [Buffer.from('20010db8000000000000000000000007', 'hex')],
      })
      const resolve = createNameServers({ servers: [server.address] })
      expect(await resolve('shop.example')).toEqual([
        { address: '203.0.113.7', family: 4 },
        { address: '2001:db8::7', family: 6 },
      ])
    })

    it('names without an address are reported as a failure of the name', async () => {
      const server = await startNameServer({})
      const sender = createSender({
        mode: 'live',
        testTargets: [],
        now: Date.now,
        lookup: createNameServers({ servers: [server.address] }),
      })
      const request = { endpointId: 'we_1', url: 'https://shop.example/', headers: {}, body: Buffer.from('{}') }
      const made = await sender.send(request, new AbortController().signal)
      sender.close()
      expect(made).toMatchObject({ status: null, error: 'dns' })
    })

    it('names are never resolved by the system, whose threads are shared', async () => {
      const made: string[] = []
      const hook = createHook({ init: (_id, type) => void made.push(type) }).enable()
      const limits = { totalMs: 1000 }
      const sender = createSender({ mode: 'live', testTargets: [], now: Date.now, limits })
      const request = { endpointId: 'we_1', url: 'https://shop.invalid/', headers: {}, body: Buffer.from('{}') }
      await sender.send(request, new AbortController().signal)
      hook.disable()
      sender.close()
      expect(made).toContain('QUERYWRAP')
      expect(made).not.toContain('GETADDRINFOREQWRAP')
    })

    it('names whose name server is silent delay no other name of the process', async () => {
      const silent = await startNameServer(null)
      const resolve = createNameServers({ servers: [silent.address], answerMs: 300 })
      const names = Array.from({ length: SILENT_NAMES }, (_, index) => resolve(`shop-${index}.example`))
      const ended = Promise.allSettled(names)
      for (let look = 0; look < 500 && silent.asked() < SILENT_NAMES; look++)
        await new Promise((next) => setTimeout(next, 10))
      expect(silent.asked()).toBeGreaterThanOrEqual(SILENT_NAMES)
      const begun = Date.now()
      // By the system, as the names of nodes and partners are resolved.
      await lookup('localhost')
      expect(Date.now() - begun).toBeLessThan(2000)
      // They end automatically: a try that was given up leaves no connection for long.
      for (const { status } of await ended) expect(status).toBe('rejected')
      expect(Date.now() - begun).toBeLessThan(15_000)
    }, 30_000)
  })
})

describe('Requests into the platform’s own network', () => {
  const body = Buffer.from('{}')
  const limits = { totalMs: 2_000, connectMs: 1_000, maxBytes: 1024 }
  let honeypot: Honeypot

  beforeAll(async () => {
    honeypot = await startHoneypot()
  })
  afterAll(() => honeypot.close())

  const send = (sender: ReturnType<typeof createSender>, url: string) =>
    sender.send({ endpointId: 'we_1', url, headers: {}, body }, never)

  describe('Webhooks into the platform’s own network', () => {
    it('webhooks are never sent to a local address, in any spelling', async () => {
      let tried = 0
      for (const mode of ['live', 'test'] as const) {
        const sender = createSender({ mode, testTargets: [], now: Date.now, limits })
        for (const notation of LOCAL_NOTATIONS) {
          for (const url of listUrls(notation, honeypot.port)) {
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

    it('webhooks are refused when the connection is made, even if the URL had passed', async () => {
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

    it('webhooks are refused if a public name resolves to a private address, alone or among public ones', async () => {
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

    it('webhooks are checked again at every attempt: a name that is rebound is refused', async () => {
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

    it('webhooks do not follow a redirect', async () => {
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

    it('webhooks ignore a proxy in the environment', async () => {
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

    it('webhooks reach an exact test target, and no other port or spelling of it', async () => {
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

  describe('The list of addresses', () => {
    it('the list of addresses refuses everything that is not globally reachable', () => {
      expect(PRIVATE_ADDRESSES.filter((address) => isGlobalAddress(address))).toEqual([])
    })

    it('the list of addresses accepts public addresses', () => {
      expect(PUBLIC_ADDRESSES.filter((address) => !isGlobalAddress(address))).toEqual([])
    })

    it('the list of addresses refuses unreadable ones', () => {
      for (const text of ['', 'shop.example', '8.8.8.8.', '8.8.8.8/32', '[2606:4700::1]', '1.2.3.4.5', 'fe80::1%eth0'])
        expect(isGlobalAddress(text)).toBe(false)
    })
  })

  function listUrls(notation: string, port: number): string[] {
    return [`https://${notation}:${port}/`, `http://${notation}:${port}/`, `https://a.example@${notation}:${port}/`]
  }
})
