/** Addresses that no webhook may reach, by the reason: the deny list of the SSRF tests. */
export const PRIVATE_ADDRESSES = words(
  // Unspecified, "this network"
  '0.0.0.0 0.1.2.3 0.255.255.255 ::',
  // Loopback
  '127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.254 ::1',
  // Azure's platform, from the inside
  '168.63.129.16 ::ffff:168.63.129.16',
  // Private (RFC 1918) and unique local
  '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255',
  'fc00::1 fd00::1 fd12:3456:789a:1::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  // Link-local, with the metadata services of the clouds
  '169.254.0.1 169.254.169.254 169.254.170.2 169.254.255.255 fe80::1 fe80::a9fe:a9fe febf::1',
  'fd00:ec2::254 100.100.100.200 192.0.0.192',
  // Shared address space, protocol assignments, benchmarking
  '100.64.0.1 100.127.255.255 192.0.0.1 192.0.0.170 198.18.0.1 198.19.255.255 2001:2::1',
  // Documentation
  '192.0.2.1 198.51.100.7 203.0.113.9 2001:db8::1 3fff::1 3fff:fff::1',
  // Multicast, broadcast, reserved
  '224.0.0.1 239.255.255.250 255.255.255.255 240.0.0.1 250.1.2.3 ff02::1 ff0e::1',
  // Anycast relays and other special uses
  '192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1',
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo
  '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8',
  '::7f00:1 ::127.0.0.1 ::a00:1 ::a9fe:a9fe ::ffff:0:127.0.0.1 ::ffff:0:7f00:1',
  '64:ff9b::7f00:1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 64:ff9b:1:ffff::7f00:1',
  '2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2',
  // Discard, site-local, segment routing, ORCHID, identifiers, unassigned space
  '100::1 fec0::1 feff::1 5f00::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff::1',
  '4000::1 8000::1 e000::1 1::1 200::1 2001:3::1 2001:4:112::1',
)

export const PUBLIC_ADDRESSES = words(
  '8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255',
  '128.0.0.1 172.15.255.255 172.32.0.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1',
  '223.255.255.255 2606:4700:4700::1111 2a00:1450:4001:80e::200e 2620:fe::fe 2400:cb00::1',
)

/** Spellings of an address of this machine in a URL; each reaches a local listener without a check. */
export const LOCAL_NOTATIONS = words(
  '127.0.0.1 127.1 127.0.1 127.000.000.001 0177.0.0.1 0177.1 0x7f.0.0.1 0x7f.1 0x7F000001',
  '2130706433 017700000001 127.0.0.1. ①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 %31%32%37.0.0.1',
  '127.0.0.1%E2%80%8B 0 0.0.0.0 0x0 00 0.0 127.127.127.127 [::1] [0:0:0:0:0:0:0:1]',
  '[::0001] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1]',
  '[::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::] [::FFFF:127.0.0.1]',
  'localhost LOCALHOST localhost. a.localhost ⓛocalhost localhost.localdomain host.internal',
  'printer.local metadata.google.internal intranet router.lan nas.home.arpa',
)

/** Each line has several, separated by spaces. */
function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}
