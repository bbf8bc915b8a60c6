import type { Hex } from '../../domain/hex.ts'
import type { Rate } from '../../limits/rate.ts'
import { createSlots, type Slots } from '../../limits/slots.ts'
import { numberOf } from './answers.ts'
import { connectClients } from './clients.ts'
import { createFailure, createRedaction, isCutOff, isTooLarge, NodeFailure, unawaited } from './failure.ts'
import type { Health } from './health.ts'
import type { Request } from './http.ts'

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
  /** Large, and not to be asked for in parts: one that is very large is asked for again, with more room and time. */
  readonly indivisible?: boolean
  /** What waits for its turn ends when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

export type TransportOptions = {
  readonly name: string
  /** For the whole request: connection, headers and the last byte of the body. */
  readonly timeoutMs: number
  readonly chainId: number
  readonly health: Health
  readonly budget: Rate
}

/** Large answers of one node at a time. */
export const LARGE_AT_ONCE = 6

/** A number as JSON-RPC writes it. */
export const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

export function connectTransport(url: string, options: TransportOptions): NodeTransport {
  const { name, timeoutMs, chainId, health } = options
  const clients = connectClients(url, timeoutMs)
  const askOnce = createCaller(options, createRedaction(url))
  const turns = createSlots({ inFlight: LARGE_AT_ONCE })
  const patientTurns = createSlots({ inFlight: 1 })
  let admitted: Promise<void> | null = null
  let admittedOnce = false

  async function ask<T>(call: Ask<T>): Promise<T> {
    if (call.indivisible === true) return askIndivisible(call)
    if (call.large === true) return askInTurn(call, turns, clients.apart)
    if (call.alone === true) return askOnce(call, clients.apart)
    try {
      return await askOnce(call, clients.together)
    } catch (failure) {
      // One large answer of several in one HTTP request must not concern the others.
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

  /** To wait for a turn is no failure of the node, and no reason to give up: others of ours come first. */
  async function askInTurn<T>(call: Ask<T>, queue: Slots, request: Request): Promise<T> {
    const free = await queue.take(name, call.signal)
    if (free === null) throw unawaited(`${name} ${call.method}`)
    return askOnce(call, request).finally(free)
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

/** Asks once, and counts the answer or its lack. */
function createCaller({ name, timeoutMs, health, budget }: TransportOptions, redact: (text: string) => string) {
  return async function askOnce<T>({ method, params, parse }: Ask<T>, request: Request): Promise<T> {
    const place = `${name} ${method}`
    if (!(await budget.take(timeoutMs)))
      throw new NodeFailure(place, { kind: 'silent', answer: 'more calls than the budget of this node' })
    const startedAt = performance.now()
    try {
      const answer = await request({ method, params })
      const value = parsed(place, () => parse(answer))
      health.answered(method, performance.now() - startedAt)
      return value
    } catch (thrown) {
      const failure = thrown instanceof NodeFailure ? thrown : createFailure(place, thrown, redact)
      if (failure.isCutOff) health.answered(method, performance.now() - startedAt)
      else health.failed(method, { failure, ms: performance.now() - startedAt })
      throw failure
    }
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
