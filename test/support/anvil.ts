import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { anvilBinary } from '../../scripts/system/anvil.ts'
import { onFreePort } from '../../scripts/system/ports.ts'
import { testChainArguments } from '../../scripts/test/services/chain.ts'

export type Anvil = { readonly url: string; readonly pid: number; stop(): Promise<void> }

/** A dedicated chain that mines only on request. `finalized` is the newest block minus two, unless `args` differ. */
export function startAnvil(args: readonly string[] = ['--no-mining']): Promise<Anvil> {
  return onFreePort((port) => startOn(port, args))
}

async function startOn(port: number, args: readonly string[]): Promise<Anvil> {
  // A chain that is killed leaves its old states in its folder, up to gigabytes.
  const states = await mkdtemp(join(tmpdir(), 'pinrail-anvil-'))
  const child = spawn(anvilBinary(), testChainArguments({ port, states, more: args }), {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = `http://127.0.0.1:${port}`
  await answers(url, child)
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(states, { recursive: true, force: true })
    },
  }
}

async function answers(url: string, child: ChildProcessByStdio<null, null, Readable>): Promise<void> {
  const errors = text(child.stderr)
  const deadline = Date.now() + 20_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`anvil ended with ${child.exitCode}: ${await errors}`)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(
      () => null,
    )
    if (answer?.ok) return
    await delay(20)
  }
  throw new Error('anvil did not answer within 20 s')
}

/** The fate of one request: `deliver` and answer, lose one of the two, or answer something else. */
export type Fate =
  | 'deliver'
  | 'lose_request'
  | 'lose_response'
  /** The node receives it twice; the caller gets the second answer. */
  | 'duplicate'
  /** The node receives it; the caller waits forever. */
  | 'hang'
  | { readonly status: number }
  /** Answers with the JSON-RPC error without asking the node. */
  | { readonly error: { readonly code: number; readonly message: string } }
  /** Rewrites the node's answer. */
  | { readonly rewrite: (result: unknown) => unknown }

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

export type LossyProxy = {
  readonly url: string
  /** Decides about every call; a batch has the fate of its first call that is not delivered. */
  decide: (call: RpcCall) => Fate
  /** Every call that arrived, in order. */
  readonly calls: RpcCall[]
  close(): Promise<void>
}

/** A proxy before a node that loses the calls that the test chooses. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const calls: RpcCall[] = []
  const server: Server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const parsed = JSON.parse(body.toString()) as (RpcCall & { id: number }) | (RpcCall & { id: number })[]
      const batch = Array.isArray(parsed) ? parsed : [parsed]
      calls.push(...batch)
      const fate = batch.map((call) => proxy.decide(call)).find((decided) => decided !== 'deliver') ?? 'deliver'
      if (fate === 'lose_request') return void outgoing.destroy()
      if (typeof fate === 'object' && 'status' in fate) return void outgoing.writeHead(fate.status).end('busy')
      if (typeof fate === 'object' && 'error' in fate) {
        const answers = batch.map(({ id }) => ({ jsonrpc: '2.0', id, error: fate.error }))
        outgoing.writeHead(200, { 'content-type': 'application/json' })
        return void outgoing.end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
      }
      const deliver = (done: (answer: Buffer | null) => void): void =>
        forward(target, body, fate === 'duplicate' ? () => forward(target, body, done) : done)
      deliver((answer) => {
        if (fate === 'hang') return
        if (fate === 'lose_response' || answer === null) return void outgoing.destroy()
        outgoing.writeHead(200, { 'content-type': 'application/json' })
        outgoing.end(typeof fate === 'string' ? answer : rewritten(answer, batch, fate.rewrite))
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: LossyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    decide: () => 'deliver',
    calls,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

function rewritten(answer: Buffer, batch: readonly RpcCall[], rewrite: (result: unknown) => unknown): string {
  type Answer = { result: unknown }
  const value = JSON.parse(answer.toString()) as Answer | Answer[]
  if (!Array.isArray(value)) return JSON.stringify({ ...value, result: rewrite(value.result) })
  return JSON.stringify(value.map((one, index) => (batch[index] ? { ...one, result: rewrite(one.result) } : one)))
}

export function forward(target: string, body: Buffer, done: (answer: Buffer | null) => void): void {
  const outgoing = request(target, { method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => done(Buffer.concat(chunks)))
  })
  outgoing.on('error', () => done(null))
  outgoing.end(body)
}
