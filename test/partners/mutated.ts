/** The place of a change of bytes, and the change. */
type Mutation = { position: number; change: number; how: string }

/** The bytes, changed in one place. */
export function mutated(bytes: Buffer, { position, change, how }: Mutation): Buffer {
  const at = position % Math.max(bytes.length, 1)
  if (how === 'flip') return Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ change : byte)))
  if (how === 'insert') return Buffer.concat([bytes.subarray(0, at), Buffer.from([change]), bytes.subarray(at)])
  if (how === 'remove') return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
  if (how === 'truncate') return bytes.subarray(0, at)
  return Buffer.concat([bytes, bytes.subarray(at)])
}
