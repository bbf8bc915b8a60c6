import { createHook } from 'node:async_hooks'
import dgram, { type RemoteInfo } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createNameServers } from '../../src/webhooks/resolve.ts'
import { createSender } from '../../src/webhooks/send.ts'

const A = 1
const AAAA = 28
/** More names than the process has threads. */
const SILENT_NAMES = 64

const opened: dgram.Socket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.close()
})

type Answers = Readonly<Record<number, readonly Uint8Array[]>>

/** A name server on this machine; null: it keeps silent. Answers its address, and counts what it is asked. */
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

describe('the names of endpoints', () => {
  it('are resolved to the addresses of both families', async () => {
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

  it('that have no address say so, as a failure of the name', async () => {
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

  it('are never asked of the system, whose threads are for all', async () => {
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

  it('whose name server is silent hold up no other name of the process', async () => {
    const silent = await startNameServer(null)
    const resolve = createNameServers({ servers: [silent.address] })
    const names = Array.from({ length: SILENT_NAMES }, (_, index) => resolve(`shop-${index}.example`))
    const ended = Promise.allSettled(names)
    for (let look = 0; look < 500 && silent.asked() < SILENT_NAMES; look++)
      await new Promise((next) => setTimeout(next, 10))
    expect(silent.asked()).toBeGreaterThanOrEqual(SILENT_NAMES)
    const begun = Date.now()
    // By the system, as nodes and partners are found.
    await lookup('localhost')
    expect(Date.now() - begun).toBeLessThan(2000)
    // They end by themselves: a try that was given up leaves nothing behind for long.
    for (const { status } of await ended) expect(status).toBe('rejected')
    expect(Date.now() - begun).toBeLessThan(15_000)
  }, 30_000)
})
