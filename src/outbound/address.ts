import ipaddr from 'ipaddr.js'

/** All global unicast addresses are in 2000::/3 (IANA); of these 2001::/23 is reserved for protocols (RFC 2928). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
const PROTOCOL_IPV6 = ipaddr.IPv6.parseCIDR('2001::/23')

/** Global by its number, but in Azure every machine reaches it inside: health probes, DHCP, keys of the machine. */
const AZURE_PLATFORM = '168.63.129.16'

/**
 * Returns true if a webhook may be sent to the address: only global unicast. An allow-list for IPv6, because ipaddr.js
 * takes `::7f00:1` (IPv4-compatible loopback) for unicast. Everything that contains an IPv4 address (mapped, NAT64,
 * 6to4, Teredo) is refused as such. What cannot be parsed is refused.
 */
export function isGlobalAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed instanceof ipaddr.IPv4) return parsed.toString() !== AZURE_PLATFORM
  return parsed.match(GLOBAL_IPV6) && !parsed.match(PROTOCOL_IPV6)
}
