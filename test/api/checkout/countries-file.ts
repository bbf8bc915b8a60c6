/** Writes the smallest valid file of countries: https://maxmind.github.io/MaxMind-DB/, with IPv4 networks only. */
export function countriesFile(networks: Readonly<Record<string, string>>): Buffer {
  const codes = [...new Set(Object.values(networks))]
  const records = codes.map((code) => map({ country: map({ iso_code: text(code) }) }))
  const offsets = records.map((_record, nth) => Buffer.concat(records.slice(0, nth)).length)
  const nodes: [number, number][] = [[-1, -1]]
  /** Negative: no record. From a million on: a record. */
  const RECORD = 1_000_000
  for (const [network, code] of Object.entries(networks)) {
    const [address = '', length = '32'] = network.split('/')
    const bits = address
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Number(length))
    let at = 0
    for (const [nth, bit] of Array.from(bits, Number).entries()) {
      const node = nodes[at] as [number, number]
      const side = bit as 0 | 1
      if (nth === bits.length - 1) node[side] = RECORD + codes.indexOf(code)
      else if (node[side] < 0) node[side] = nodes.push([-1, -1]) - 1
      at = node[side]
    }
  }
  const pointer = (value: number): number =>
    value < 0 ? nodes.length : value < RECORD ? value : nodes.length + 16 + (offsets[value - RECORD] ?? 0)
  const tree = Buffer.alloc(nodes.length * 8)
  for (const [nth, [left, right]] of nodes.entries()) {
    tree.writeUInt32BE(pointer(left), nth * 8)
    tree.writeUInt32BE(pointer(right), nth * 8 + 4)
  }
  const metadata = map({
    node_count: number(nodes.length, 6, 4),
    record_size: number(32, 5, 2),
    ip_version: number(4, 5, 2),
    database_type: text('Test'),
    languages: Buffer.from([0, 4]),
    binary_format_major_version: number(2, 5, 2),
    binary_format_minor_version: number(0, 5, 2),
    // An extended type, uint64, of no bytes: 0.
    build_epoch: Buffer.from([0, 2]),
    description: map({}),
  })
  const begins = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')])
  return Buffer.concat([tree, Buffer.alloc(16), ...records, begins, metadata])
}

const control = (type: number, size: number): Buffer =>
  size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29])

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([control(2, bytes.length), bytes])
}

function number(value: number, type: 5 | 6, size: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return Buffer.concat([control(type, size), bytes.subarray(4 - size)])
}

function map(entries: Readonly<Record<string, Buffer>>): Buffer {
  const parts = Object.entries(entries).flatMap(([key, value]) => [text(key), value])
  return Buffer.concat([control(7, Object.keys(entries).length), ...parts])
}
