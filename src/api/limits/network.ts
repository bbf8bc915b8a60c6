/** Returns an IPv4 address (also given as `::ffff:192.0.2.7`), or the first 56 bits of IPv6: one customer's network. */
export function getNetwork(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return v4 ?? ipv6Prefix(address)
}

/** A loopback address is a proxy of the platform, with every client behind it. */
export const isOwnMachine = (address: string): boolean =>
  address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address)

function ipv6Prefix(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = (tail ?? '').split(':').filter((group) => group !== '')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right].map((group) => group.padStart(4, '0'))
  return groups.slice(0, 4).join('').slice(0, 14)
}
