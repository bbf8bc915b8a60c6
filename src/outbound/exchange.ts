import http from 'node:http'
import https from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { SendError } from '../domain/webhook.ts'
import { EXCERPT_BYTES, EXCERPT_MARGIN_BYTES } from './excerpt.ts'
import { type GuardedAgents, type GuardOptions, guardedLookup, RefusedAddressError } from './guarded-agents.ts'
import type { Resolve } from './resolve.ts'

export type Exchange = {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly guard: GuardOptions
  /** Milliseconds for the whole exchange, and for its beginning up to a usable connection. */
  readonly totalMs: number
  readonly connectMs: number
  /** The connection is closed after this many bytes of the answer's body. */
  readonly maxBytes: number
}

export type Exchanged = {
  readonly response: http.IncomingMessage | null
  /** The first bytes of the body, for the log. */
  readonly bytes: Buffer
  readonly error: SendError | null
  readonly bytesSent: number
  /** True if the server closed a kept connection at the moment of its reuse. */
  readonly staleSocket: boolean
}

type Network = { readonly agents: GuardedAgents; readonly resolve: Resolve }

/** Ends an exchange that takes too long. Node's own timeouts end only silent connections. */
class TooSlowError extends Error {}

/** Resolves with the outcome, failures included. Rejects only when `signal` aborts. */
export function exchange(request: Exchange, network: Network, signal: AbortSignal): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const state: Progress = { phase: 'resolving', response: null, kept: [], keptBytes: 0, sentBefore: 0 }
    const outgoing = open(request, network)
    const total = setTimeout(() => outgoing.destroy(new TooSlowError()), request.totalMs)
    const connecting = watchConnection(outgoing, state, request.connectMs)
    const onAbort = () => outgoing.destroy()
    signal.addEventListener('abort', onAbort, { once: true })

    let done = false
    const finish = (failure: Error | null) => {
      if (done) return
      done = true
      clearTimeout(total)
      connecting.stop()
      signal.removeEventListener('abort', onAbort)
      if (signal.aborted) reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
      else resolve(outcome({ outgoing, state, failure }))
    }

    outgoing.on('error', finish)
    outgoing.on('close', () => finish(new Error('closed without an answer')))
    outgoing.on('response', (response) => {
      state.response = response
      readBounded(response, { state, maxBytes: request.maxBytes, finish })
    })
    outgoing.end(request.body)
  })
}

function open(request: Exchange, { agents, resolve }: Network): http.ClientRequest {
  const secure = request.url.protocol === 'https:'
  const options = {
    ...request.guard,
    method: 'POST',
    agent: secure ? agents.https : agents.http,
    headers: { ...request.headers, 'content-length': String(request.body.length) },
    lookup: guardedLookup(resolve, request.guard.privateAllowed),
  }
  return secure ? https.request(request.url, options) : http.request(request.url, options)
}

type Progress = {
  /** `reused`: the connection has carried other requests. Node's `reusedSocket` misses requests that waited in line. */
  phase: 'resolving' | 'connecting' | 'securing' | 'open' | 'reused'
  response: http.IncomingMessage | null
  readonly kept: Buffer[]
  keptBytes: number
  sentBefore: number
}

/** Tracks the state of the connection, and ends a request whose connection takes too long. */
function watchConnection(outgoing: http.ClientRequest, state: Progress, connectMs: number): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  const stop = () => clearTimeout(timer)
  outgoing.once('socket', (socket) => {
    const secure = 'encrypted' in socket
    if (!socket.connecting) {
      state.phase = 'reused'
      state.sentBefore = socket.bytesWritten
      return
    }
    timer = setTimeout(() => outgoing.destroy(new TooSlowError()), connectMs)
    const opened = () => {
      state.phase = 'open'
      stop()
    }
    socket.once('lookup', () => {
      state.phase = 'connecting'
    })
    socket.once('connect', () => {
      if (secure) state.phase = 'securing'
      else opened()
    })
    if (secure) (socket as TLSSocket).once('secureConnect', opened)
  })
  return { stop }
}

type Reading = { readonly state: Progress; readonly maxBytes: number; readonly finish: (failure: Error | null) => void }

function readBounded(response: http.IncomingMessage, { state, maxBytes, finish }: Reading): void {
  let read = 0
  response.on('data', (chunk: Buffer) => {
    read += chunk.length
    const room = EXCERPT_BYTES + EXCERPT_MARGIN_BYTES - state.keptBytes
    if (room > 0) {
      // Copied, because a slice would keep the whole chunk in memory.
      const kept = Buffer.from(chunk.subarray(0, room))
      state.kept.push(kept)
      state.keptBytes += kept.length
    }
    if (read <= maxBytes) return
    finish(null)
    response.destroy()
  })
  response.on('end', () => finish(null))
  response.on('error', finish)
}

type Ended = { readonly outgoing: http.ClientRequest; readonly state: Progress; readonly failure: Error | null }

function outcome({ outgoing, state, failure }: Ended): Exchanged {
  const { phase, response } = state
  const status = response?.statusCode ?? 0
  const isRedirect = failure === null && status >= 300 && status < 400
  const isConnected = phase === 'open' || phase === 'reused'
  return {
    response,
    bytes: Buffer.concat(state.kept),
    error: failure === null ? (isRedirect ? 'redirect' : null) : classifyFailure(failure, phase),
    bytesSent: isConnected ? Math.max((outgoing.socket?.bytesWritten ?? 0) - state.sentBefore, 0) : 0,
    staleSocket: failure !== null && phase === 'reused' && response === null && !(failure instanceof TooSlowError),
  }
}

function classifyFailure(failure: Error & { code?: string; syscall?: string }, phase: Progress['phase']): SendError {
  if (failure instanceof RefusedAddressError) return 'refused_address'
  if (failure instanceof TooSlowError) return 'timeout'
  if (failure.syscall === 'getaddrinfo' || failure.code === 'ENOTFOUND') return 'dns'
  if (phase === 'securing') return 'tls'
  return failure.code?.startsWith('HPE_') ? 'protocol' : 'connect'
}
