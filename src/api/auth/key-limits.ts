import { BlockList, isIP } from 'node:net'

/** Null: all networks, and until it is revoked. */
export type KeyLimits = { readonly allowedIps: readonly string[] | null; readonly expiresAt: string | null }

/** The limits of a person, who confirms again what a key is given. */
export const NO_LIMITS: KeyLimits = { allowedIps: null, expiresAt: null }

export const endsWithin = (inner: KeyLimits['expiresAt'], outer: KeyLimits['expiresAt']): boolean =>
  outer === null || (inner !== null && Date.parse(inner) <= Date.parse(outer))

export function liesWithin(inner: KeyLimits['allowedIps'], outer: KeyLimits['allowedIps']): boolean {
  if (outer === null) return true
  return inner !== null && inner.every((entry) => outer.some((network) => contains(network, entry)))
}

function contains(outer: string, inner: string): boolean {
  const [network, entry] = [readNetwork(outer), readNetwork(inner)]
  if (network.family !== entry.family || network.prefix > entry.prefix) return false
  return createBlockList([outer]).check(entry.address, entry.family)
}

/** Addresses and networks (`192.0.2.7`, `2001:db8::/32`). */
export function createBlockList(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const { address, prefix, family } = readNetwork(entry)
    list.addSubnet(address, prefix, family)
  }
  return list
}

function readNetwork(entry: string) {
  const [address = '', prefix] = entry.split('/')
  const family = isIP(address) === 6 ? ('ipv6' as const) : ('ipv4' as const)
  const whole = family === 'ipv6' ? 128 : 32
  return { address, family, prefix: prefix === undefined ? whole : Number(prefix) }
}
