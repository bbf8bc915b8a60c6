import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { isGlobalAddress } from './address.ts'
import { type Resolve, systemResolve } from './resolve.ts'

/** Thrown for an address that is not public, before a packet is sent to it. */
export class RefusedAddressError extends Error {
  constructor(host: string) {
    super(`${host} is not a public address`)
    this.name = 'RefusedAddressError'
  }
}

/** Options of a request that only these agents read. */
export type GuardOptions = {
  /** Sockets are kept and counted for each endpoint, so that two merchants never share one. */
  readonly endpointId: string
  /** Skips the check: only for the exact targets of WEBHOOK_TEST_TARGETS, in test mode. */
  readonly privateAllowed: boolean
}

export type GuardedAgents = { readonly http: http.Agent; readonly https: https.Agent }

type ConnectOptions = http.ClientRequestArgs & GuardOptions
type OnCreated = (error: Error | null, socket?: Duplex) => void

/** Concurrent requests for one endpoint. A slow endpoint delays only its own requests. */
const SOCKETS_PER_ENDPOINT = 10
/** Idle sockets kept for the next event of the endpoint, and the milliseconds for which they are kept. */
const IDLE_SOCKETS = 2
const IDLE_MS = 20_000

const SETTINGS = { keepAlive: true, maxSockets: SOCKETS_PER_ENDPOINT, maxFreeSockets: IDLE_SOCKETS, timeout: IDLE_MS }

export function createGuardedAgents(): GuardedAgents {
  return {
    http: guard(new http.Agent(SETTINGS)),
    https: guard(new https.Agent({ ...SETTINGS, minVersion: 'TLSv1.2' })),
  }
}

/** Adds a check before each connection to Node's agent. A lookup filter alone is not called for IP literals. */
function guard<T extends http.Agent>(agent: T): T {
  const base = agent as unknown as {
    createConnection(options: ConnectOptions, onCreated: OnCreated): Duplex | undefined
    getName(options: ConnectOptions): string
  }
  const connect = base.createConnection.bind(agent)
  const name = base.getName.bind(agent)
  base.getName = (options) => `${options.endpointId}|${name(options)}`
  base.createConnection = (options, onCreated) => {
    const host = (options.host ?? '').replace(/^\[|\]$/g, '')
    const refused = !options.privateAllowed && isIP(host) !== 0 && !isGlobalAddress(host)
    if (!refused) return connect(options, onCreated)
    onCreated(new RefusedAddressError(host))
    return undefined
  }
  return agent
}

/**
 * Returns the lookup of a connection. It refuses a name if any of its addresses is not public. The connection then goes
 * to exactly the addresses that were checked, so that a second answer of the name server (DNS rebinding) changes
 * nothing.
 */
export function guardedLookup(resolve: Resolve, privateAllowed: boolean): LookupFunction {
  return (hostname, options, answer) => {
    resolveChecked(privateAllowed ? systemResolve : resolve, hostname, privateAllowed).then(
      ([first, ...others]) => {
        if (options.all) answer(null, [first, ...others])
        else answer(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => answer(error, '', 0),
    )
  }
}

type Address = { address: string; family: number }

async function resolveChecked(
  resolve: Resolve,
  hostname: string,
  privateAllowed: boolean,
): Promise<[Address, ...Address[]]> {
  const [first, ...others] = await resolve(hostname)
  if (first === undefined) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
  if (!privateAllowed && ![first, ...others].every(({ address }) => isGlobalAddress(address)))
    throw new RefusedAddressError(hostname)
  return [first, ...others]
}
