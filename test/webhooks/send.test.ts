import { setMaxListeners } from 'node:events'
import type http from 'node:http'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createSender, type Sender, type SendLimits } from '../../src/webhooks/send.ts'
import { drip, type Receiver, selfSigned, startRawReceiver, startReceiver, until } from './listeners.ts'

const body = Buffer.from('{"id":"evt_1","text":"Zażółć"}')
const headers = { 'webhook-id': 'evt_1', 'webhook-signature': 'v1,abc' }
const never = new AbortController().signal
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

describe('sending a webhook', () => {
  it('posts the exact bytes with our headers and nothing of the environment', async () => {
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

  it('takes any status for an answer and reads Retry-After', async () => {
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

  it('keeps the answer for the log: short, printable, without secrets', async () => {
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

describe('a receiver that takes its time', () => {
  it('is cut off after the total time when it sends no head', async () => {
    const receiver = await startReceiver(() => undefined)
    const started = Date.now()
    expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'timeout' })
    expect(Date.now() - started).toBeLessThan(1500)
  })

  it('is cut off when it drips its head byte by byte', async () => {
    const receiver = await startRawReceiver((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ', 'x'))
    expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'timeout' })
  })

  it('is cut off when it drips its body, and the 200 does not count', async () => {
    const receiver = await startRawReceiver((socket) =>
      drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', '.'),
    )
    expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: 200, error: 'timeout' })
  })

  it('is cut off when it never finishes the handshake', async () => {
    const receiver = await startRawReceiver(() => undefined)
    const sender = senderTo(receiver, { connectMs: 100, totalMs: 5_000 })
    const started = Date.now()
    const request = { endpointId: 'we_1', url: receiver.url.replace('http:', 'https:'), headers, body }
    expect(await sender.send(request, never)).toMatchObject({ status: null, error: 'timeout', bytesSent: 0 })
    expect(Date.now() - started).toBeLessThan(1500)
  })

  it('does not hold up the answers to others', async () => {
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

describe('a receiver that answers too much', () => {
  it('is read for 16 KiB of an endless body, then cut', async () => {
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

  it('is refused when its head is endless', async () => {
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

  it('is never decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024))
    const receiver = await startReceiver((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const before = process.memoryUsage().rss
    const result = await post(senderTo(receiver, { totalMs: 5_000 }), receiver)
    expect(result).toMatchObject({ status: 200, bodyExcerpt: '[compressed: not shown]' })
    expect(process.memoryUsage().rss - before).toBeLessThan(16 * 1024 * 1024)
  })

  it('is not understood when it does not speak HTTP', async () => {
    const receiver = await startRawReceiver((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
    expect(await post(senderTo(receiver), receiver)).toMatchObject({ status: null, error: 'protocol' })
  })
})

describe('connections', () => {
  it('are kept for the next event of the endpoint and never shared with another endpoint', async () => {
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

  it('carry at most ten requests of an endpoint at once', async () => {
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

  it('that the receiver had closed just before are replaced at once', async () => {
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

  it('that fail at once are tried twice, and nothing was sent', async () => {
    const receiver = await startReceiver(() => undefined)
    const sender = senderTo(receiver)
    await receiver.close()
    opened.splice(0, 1)
    expect(await post(sender, receiver)).toMatchObject({ status: null, error: 'connect', bytesSent: 0 })
  })

  it('that break after the request was sent are not tried again: the receiver may have it', async () => {
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

  it('to a name that does not exist say so', async () => {
    const lookup = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
    }
    const sender = createSender({ mode: 'live', testTargets: [], now: Date.now, limits, lookup })
    opened.push(sender)
    const request = { endpointId: 'we_1', url: 'https://shop.example/', headers, body }
    expect(await sender.send(request, never)).toMatchObject({ status: null, error: 'dns' })
  })

  it('to a server that cannot prove its name are refused before anything is sent', async () => {
    const { key, cert } = selfSigned()
    let data = 0
    const server = tls.createServer({ key, cert }, (socket) => socket.on('data', () => data++))
    server.on('tlsClientError', () => undefined)
    const receiver = await startRawReceiver((socket) => server.emit('connection', socket))
    const request = { endpointId: 'we_1', url: receiver.url.replace('http:', 'https:'), headers, body }
    expect(await senderTo(receiver).send(request, never)).toMatchObject({ status: null, error: 'tls', bytesSent: 0 })
    expect(data).toBe(0)
  })

  it('end when the worker stops, and that is no answer of the receiver', async () => {
    const receiver = await startReceiver(() => stop.abort(new Error('the worker is shutting down')))
    const stop = new AbortController()
    const sender = senderTo(receiver, { totalMs: 5_000 })
    const sending = sender.send({ endpointId: 'we_1', url: receiver.url, headers, body }, stop.signal)
    await expect(sending).rejects.toThrow('the worker is shutting down')
    const late = sender.send({ endpointId: 'we_1', url: receiver.url, headers, body }, stop.signal)
    await expect(late).rejects.toThrow('the worker is shutting down')
  })
})
