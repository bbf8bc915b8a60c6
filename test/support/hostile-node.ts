import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { forward, type RpcCall } from './anvil.ts'

/** The action of a hostile node for a call. */
export type Malice =
  | 'honest'
  /** Sends the headers and then a byte now and then, forever. */
  | 'drip'
  /** Accepts the request and never answers. */
  | 'black_hole'
  /** Sends the headers and half of the answer, and closes the connection. */
  | 'cut_off'
  /** Honest, and compressed. */
  | 'zipped'
  /** Answers with this instead; computed from the honest answer. */
  | { readonly lie: (result: unknown) => unknown }
  /** Honest, this number of milliseconds later. */
  | { readonly afterMs: number }
  | { readonly error: { readonly code: number; readonly message: string } }
  /** Answers with HTTP alone and a text. */
  | { readonly status: number; readonly text: string; readonly headers?: Record<string, string> }

export type HostileNode = {
  /** With a path and a query that look like keys. */
  readonly url: string
  readonly secrets: readonly string[]
  /** Decides about each call separately, also inside a batch. */
  behave: (call: RpcCall) => Malice
  /** Decides about the answers to a list of calls; null sends them. */
  answerList: (answers: readonly ListAnswer[]) => { readonly status: number; readonly text: string } | null
  readonly calls: RpcCall[]
  /** The number of calls of each HTTP request. */
  readonly requests: number[]
  /**
   * Waits until every passed-on call is answered. A transaction that arrives late would be in the chain of the next
   * test.
   */
  idle(): Promise<void>
  close(): Promise<void>
}

export type ListAnswer = { readonly id: number }

type Call = RpcCall & { readonly id: number }

/**
 * Three nodes in front of the chain for all tests of a file; they are honest again after each. The chain is started
 * before.
 */
export function useHostileNodes(target: () => string): readonly HostileNode[] {
  const nodes: HostileNode[] = []
  beforeAll(async () => void nodes.push(...(await Promise.all([1, 2, 3].map(() => startHostileNode(target()))))))
  afterEach(async () => {
    for (const node of nodes) {
      node.behave = () => 'honest'
      node.answerList = () => null
    }
    await Promise.all(nodes.map((node) => node.idle()))
  })
  afterAll(async () => void (await Promise.all(nodes.map((node) => node.close()))))
  return nodes
}

/** A node that misbehaves on purpose in front of an honest one. */
export async function startHostileNode(target: string): Promise<HostileNode> {
  const calls: RpcCall[] = []
  const requests: number[] = []
  const dripping = new Set<NodeJS.Timeout>()
  const underWay = new Set<Promise<void>>()
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const parsed = JSON.parse(body.toString()) as Call | Call[]
      const batch = Array.isArray(parsed) ? parsed : [parsed]
      calls.push(...batch)
      requests.push(batch.length)
      const malices = batch.map((call) => node.behave(call))
      if (malices.includes('black_hole')) return
      if (malices.includes('drip')) return drip(outgoing, dripping)
      const http = malices.find((malice) => typeof malice === 'object' && 'status' in malice)
      if (typeof http === 'object' && 'status' in http)
        return void outgoing.writeHead(http.status, http.headers).end(http.text)
      const waits = malices.map((malice) => (typeof malice === 'object' && 'afterMs' in malice ? malice.afterMs : 0))
      const pass = async (): Promise<void> => {
        const late = Math.max(...waits)
        if (late > 0) await delay(late)
        const answer = await new Promise<Buffer | null>((resolve) => forward(target, body, resolve))
        if (answer === null) return void outgoing.destroy()
        const honest = JSON.parse(answer.toString()) as { id: number } | { id: number }[]
        const answers = (Array.isArray(honest) ? honest : [honest]).map((one) =>
          twist(one, malices[batch.findIndex(({ id }) => id === one.id)] ?? 'honest'),
        )
        const { status, text } = (Array.isArray(honest) && node.answerList(answers as ListAnswer[])) || {
          status: 200,
          text: JSON.stringify(Array.isArray(honest) ? answers : answers[0]),
        }
        if (malices.includes('cut_off')) return cutOff(outgoing, text)
        const isZipped = malices.includes('zipped')
        outgoing.writeHead(status, {
          'content-type': 'application/json',
          ...(isZipped && { 'content-encoding': 'gzip' }),
        })
        outgoing.end(isZipped ? gzipSync(text) : text)
      }
      const passing = pass()
      underWay.add(passing)
      void passing.finally(() => underWay.delete(passing))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const secrets = ['k3y-in-the-path-7f3a', 'k3y-in-the-query-91bc']
  const node: HostileNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/${secrets[0]}?apikey=${secrets[1]}`,
    secrets,
    behave: () => 'honest',
    answerList: () => null,
    calls,
    requests,
    idle: async () => void (await Promise.all(underWay)),
    async close() {
      for (const timer of dripping) clearInterval(timer)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return node
}

function drip(outgoing: ServerResponse, dripping: Set<NodeJS.Timeout>): void {
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => outgoing.write(' '), 50)
  dripping.add(timer)
  outgoing.on('close', () => clearInterval(timer))
}

function cutOff(outgoing: ServerResponse, text: string): void {
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
  outgoing.write(text.slice(0, text.length / 2), () => outgoing.destroy())
}

function twist(answer: { id: number; result?: unknown }, malice: Malice): object {
  if (typeof malice !== 'object') return answer
  if ('lie' in malice) return { ...answer, result: malice.lie(answer.result) }
  if ('error' in malice) return { jsonrpc: '2.0', id: answer.id, error: malice.error }
  return answer
}
