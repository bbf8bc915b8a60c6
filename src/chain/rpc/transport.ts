import type { Hex } from '../../domain/hex.ts'
import { createLimiter, type Limiter } from '../../runtime/limiter.ts'
import { parseNumber } from './answers.ts'
import { connectClients } from './clients.ts'
import { createFailure, createRedaction, isCutOff, isTooLarge, NodeFailure, unawaited } from './failure.ts'
import type { Health } from './health.ts'
import type { Request } from './http.ts'

/** Asks one node. Throws NodeFailure only. `read` counts an answer as wrong if `parse` throws. */
export type NodeTransport = {
  read<T>(ask: Ask<T>): Promise<T>
}

export type Ask<T> = {
  readonly method: string
  readonly params: readonly unknown[]
  /** Throws for an answer of another shape than the method's. */
  readonly parse: (answer: unknown) => T
  /** Sent without other reads in one HTTP request, so that neither a loss nor a large answer affects them. */
  readonly alone?: boolean
  /** Alone too, and a few of these at a time: strangers decide the size of the answer. */
  readonly large?: boolean
  /** Large, and never read in parts: one that is very large is requested again, with more room and time. */
  readonly indivisible?: boolean
  /** Ends a wait for a turn when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

export type TransportOptions = {
  readonly name: string
  /** For the whole request: connection, headers and the last byte of the body. */
  readonly timeoutMs: number
  readonly chainId: number
  readonly health: Health
  readonly budget: Limiter
}

export const LARGE_AT_ONCE = 6

/** Formats a number as JSON-RPC writes it. */
export const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

export function connectTransport(url: string, options: TransportOptions): NodeTransport {
  const { name, timeoutMs, chainId, health } = options
  const clients = connectClients(url, timeoutMs)
  const askOnce = createCaller(options, createRedaction(url))
  const turns = createLimiter({ running: LARGE_AT_ONCE })
  const patientTurns = createLimiter({ running: 1 })
  let admitted: Promise<void> | null = null
  let admittedOnce = false

  async function ask<T>(call: Ask<T>): Promise<T> {
    if (call.indivisible === true) return askIndivisible(call)
    if (call.large === true) return askInTurn(call, turns, clients.apart)
    if (call.alone === true) return askOnce(call, clients.apart)
    try {
      return await askOnce(call, clients.together)
    } catch (failure) {
      // A large answer among several in one HTTP request must not affect the others.
      if (!isTooLarge(failure)) throw failure
      return askInTurn(call, turns, clients.apart)
    }
  }

  async function askIndivisible<T>(call: Ask<T>): Promise<T> {
    try {
      return await askInTurn(call, turns, clients.small)
    } catch (failure) {
      if (!isCutOff(failure)) throw failure
      return askInTurn(call, patientTurns, clients.patient)
    }
  }

  /** Waits for a turn, which is no failure of the node and no reason to give up: other calls precede this one. */
  async function askInTurn<T>(call: Ask<T>, limiter: Limiter, request: Request): Promise<T> {
    const free = await limiter.take({ signal: call.signal })
    if (free === null) throw unawaited(`${name} ${call.method}`)
    return askOnce(call, request).finally(free)
  }

  /**
   * Admits a node only after it has reported that it serves this chain: at its first call, and again after a silence.
   */
  async function admit(): Promise<void> {
    const served = await ask({ method: 'eth_chainId', params: [], parse: parseNumber })
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

function createCaller({ name, health, budget }: TransportOptions, redact: (text: string) => string) {
  return async function askOnce<T>({ method, params, parse }: Ask<T>, request: Request): Promise<T> {
    const place = `${name} ${method}`
    const free = await budget.take()
    if (free === null)
      throw new NodeFailure(place, { kind: 'silent', answer: 'more calls than the budget of this node' })
    const startedAt = performance.now()
    try {
      const answer = await request({ method, params })
      const value = parseAnswer(place, () => parse(answer))
      health.answered(method, performance.now() - startedAt)
      return value
    } catch (thrown) {
      const failure = thrown instanceof NodeFailure ? thrown : createFailure(place, thrown, redact)
      if (failure.isCutOff) health.answered(method, performance.now() - startedAt)
      else health.failed(method, { failure, ms: performance.now() - startedAt })
      throw failure
    } finally {
      free()
    }
  }
}

function parseAnswer<T>(place: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const answer = error instanceof Error ? error.message : String(error)
    throw new NodeFailure(place, { kind: 'malformed', answer: answer.slice(0, 300) })
  }
}
