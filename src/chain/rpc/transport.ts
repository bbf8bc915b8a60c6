import { createClient, http } from 'viem'
import { numberOf } from './answers.ts'
import type { Budget } from './budget.ts'
import { createRedaction, failureOf, NodeFailure } from './failure.ts'
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
}

export type TransportOptions = {
  readonly name: string
  /** For the whole request: connection, headers and the last byte of the body. */
  readonly timeoutMs: number
  readonly chainId: number
  readonly health: Health
  readonly budget: Budget
}

/** Most bytes of one answer. A larger range of logs is read in halves. */
const MOST_BYTES = 10 * 1024 * 1024

/** For methods that viem's typed schema does not have. */
type Request = (call: { method: string; params: readonly unknown[] }) => Promise<unknown>

export function connectTransport(url: string, options: TransportOptions): NodeTransport {
  const { name, timeoutMs, chainId, health, budget } = options
  const redact = createRedaction(url)
  // viem must not retry: reads go to the next node, and a lost answer to a broadcast means "unknown".
  const settings = { timeout: timeoutMs, retryCount: 0, fetchFn: fetchWhole, maxResponseBodySize: false } as const
  const together = createClient({ transport: http(url, { ...settings, batch: { batchSize: 50 } }), cacheTime: 0 })
  const apart = createClient({ transport: http(url, settings), cacheTime: 0 })
  let admitted: Promise<void> | null = null
  let admittedOnce = false

  async function ask<T>({ method, params, parse, alone }: Ask<T>): Promise<T> {
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
    if (bytes > MOST_BYTES) throw new Error('the answer is too large')
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
