import { createClient, http } from 'viem'
import type { Hex } from '../../domain/hex.ts'
import { numberOf } from './answers.ts'
import { type Budget, createTurns } from './budget.ts'
import { CUT_OFF, createRedaction, failureOf, isTooLarge, NodeFailure } from './failure.ts'
import type { Health } from './health.ts'

/** Asks one node. Throws NodeFailure only. `read` has its answer counted as wrong when `parse` throws. */
export type NodeTransport = {
  read<T>(ask: Ask<T>): Promise<T>
}

export type Ask<T> = {
  readonly method: string
  readonly params: readonly unknown[]
  /** Throws for an answer of another shape than the method's. */
  readonly parse: (answer: unknown) => T
  /** Not with other reads in one HTTP request, so that neither a loss nor a large answer concerns them. */
  readonly alone?: boolean
  /** Alone too, and a few of these at a time: strangers decide how much there is to answer. */
  readonly large?: boolean
}

export type TransportOptions = {
  readonly name: string
  /** For the whole request: connection, headers and the last byte of the body. */
  readonly timeoutMs: number
  readonly chainId: number
  readonly health: Health
  readonly budget: Budget
}

/** Most bytes of one answer. What is larger is asked for in parts. */
const MOST_BYTES = 10 * 1024 * 1024

/**
 * Large answers of one node at a time. A receipt of all the gas that a transaction may have (16.7 million) is 4.2 MB: six of
 * them are there within a deadline of 4 s at 50 Mbit/s. Our own, of 100 payouts, are 0.15 MB.
 */
export const LARGE_AT_ONCE = 6

/** A number as JSON-RPC writes it. */
export const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

/** For methods that viem's typed schema does not have. */
type Request = (call: { method: string; params: readonly unknown[] }) => Promise<unknown>

export function connectTransport(url: string, options: TransportOptions): NodeTransport {
  const { name, timeoutMs, chainId, health, budget } = options
  const redact = createRedaction(url)
  // viem must not retry: reads go to the next node, and a lost answer to a broadcast means "unknown".
  const settings = { timeout: timeoutMs, retryCount: 0, fetchFn: fetchWhole, maxResponseBodySize: false } as const
  const together = createClient({ transport: http(url, { ...settings, batch: { batchSize: 50 } }), cacheTime: 0 })
  const apart = createClient({ transport: http(url, settings), cacheTime: 0 })
  const turns = createTurns(LARGE_AT_ONCE)
  let admitted: Promise<void> | null = null
  let admittedOnce = false

  async function ask<T>(call: Ask<T>): Promise<T> {
    if (call.large === true) return askInTurn(call)
    try {
      return await askOnce(call)
    } catch (failure) {
      // One large answer of several in one HTTP request must not concern the others.
      if (call.alone === true || !isTooLarge(failure)) throw failure
      return askInTurn(call)
    }
  }

  async function askInTurn<T>(call: Ask<T>): Promise<T> {
    if (!(await turns.take(timeoutMs)))
      throw new NodeFailure(`${name} ${call.method}`, {
        kind: 'silent',
        answer: 'more large answers than it has time for',
      })
    try {
      return await askOnce({ ...call, alone: true })
    } finally {
      turns.give()
    }
  }

  async function askOnce<T>({ method, params, parse, alone }: Ask<T>): Promise<T> {
    const place = `${name} ${method}`
    if (!(await budget.take(timeoutMs)))
      throw new NodeFailure(place, { kind: 'silent', answer: 'more calls than the budget of this node' })
    const startedAt = performance.now()
    try {
      const request = (alone === true ? apart : together).request as unknown as Request
      const answer = await request({ method, params })
      const value = parsed(place, () => parse(answer))
      health.answered(method, performance.now() - startedAt)
      return value
    } catch (thrown) {
      const failure = thrown instanceof NodeFailure ? thrown : failureOf(place, thrown, redact)
      // An error is an answer too: the node is there.
      if (failure.kind === 'refused') health.answered(method, performance.now() - startedAt)
      else health.failed(method, { failure, ms: performance.now() - startedAt })
      throw failure
    }
  }

  /** A node counts only after it has said that it serves our chain: at its first call, and again after a silence. */
  async function admit(): Promise<void> {
    const served = await ask({ method: 'eth_chainId', params: [], parse: numberOf })
    admittedOnce = served === chainId
    if (admittedOnce) return health.leaveOut(null)
    const why = `serves chain ${served}, not ${chainId}`
    health.leaveOut(`${name} ${why}`)
    throw new NodeFailure(name, { kind: 'malformed', answer: why })
  }

  return {
    async read(call) {
      admitted ??= admit()
      const admission = admitted
      try {
        await admission
        return await ask(call)
      } catch (failure) {
        if (admitted === admission && (!admittedOnce || !health.usable())) admitted = null
        throw failure
      }
    },
  }
}

function parsed<T>(place: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const answer = error instanceof Error ? error.message : String(error)
    throw new NodeFailure(place, { kind: 'malformed', answer: answer.slice(0, 300) })
  }
}

/**
 * `fetch` that answers when the whole body is there. viem's deadline ends with the headers otherwise, and a body that
 * comes byte by byte would be waited for without end.
 */
async function fetchWhole(input: string | URL | globalThis.Request, init?: RequestInit): Promise<Response> {
  // Another host than the configured one would count for the quorum.
  const response = await fetch(input, { ...init, redirect: 'error' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) throw new Error(CUT_OFF)
    chunks.push(chunk)
  }
  const { status, statusText, headers } = response
  return new Response(Buffer.concat(chunks), { status, statusText, headers: kept(headers) })
}

/** Not the length or encoding: the body is decoded already. */
function kept(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    ['content-type', 'retry-after'].flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}
