/** JSON, hexadecimal digits, base64url, keccak256 and RLP, as far as a receipt needs them. Imports nothing. */

/** Thrown for data that is not as it must be. The message says what must be. */
export class Wrong extends Error {}

/** @typedef {Uint8Array | Item[]} Item */

/** Maximum depth of lists: a log's topics are three deep, and nothing of a block is deeper. */
const MAX_DEPTH = 8

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** @param {unknown} text @param {string} name of the text, for a person */
export function parseBytes(text, name) {
  // A pattern that matches millions of digits as a whole can use up the stack of the engine.
  const isHex = typeof text === 'string' && /^0x[0-9a-f]{2}/.test(text) && !/[^0-9a-f]/.test(text.slice(2))
  if (!isHex || text.length % 2 !== 0)
    throw new Wrong(`${name} must be 0x and an even number of lower-case hexadecimal digits`)
  return Uint8Array.from({ length: text.length / 2 - 1 }, (_, at) =>
    Number.parseInt(text.slice(2 * at + 2, 2 * at + 4), 16),
  )
}

/** base64url without padding (RFC 7515, 2). @param {unknown} text @param {string} name */
export function fromBase64(text, name) {
  if (typeof text !== 'string' || !/^[\w-]+$/.test(text) || text.length % 4 === 1)
    throw new Wrong(`signature.${name} must be base64url`)
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
}

// Looked up once: in a separate context, as a test runner's, each look-up of a global costs more than the arithmetic.
const big = BigInt

const rotated = (/** @type {bigint} */ lane, /** @type {number} */ by) =>
  by === 0 ? lane : big.asUintN(64, (lane << big(by)) | (lane >> big(64 - by)))

/** Bytes of the state that take the message: 1600 bits less twice 256. */
const RATE = 136

/** Keccak-256 as Ethereum has it: padded with 0x01, unlike SHA3-256 (FIPS 202). @param {Uint8Array} message */
export function keccak256(message) {
  const padded = new Uint8Array(RATE * (Math.floor(message.length / RATE) + 1))
  padded.set(message)
  padded[message.length] = 1
  padded[padded.length - 1] = (padded.at(-1) ?? 0) | 0x80
  const view = new DataView(padded.buffer)
  const state = new BigUint64Array(25)
  for (let block = 0; block < padded.length; block += RATE) {
    for (let lane = 0; lane < RATE / 8; lane++)
      state[lane] = at(state, lane) ^ view.getBigUint64(block + 8 * lane, true)
    permute(state)
  }
  const hash = new DataView(new ArrayBuffer(32))
  for (let lane = 0; lane < 4; lane++) hash.setBigUint64(8 * lane, at(state, lane), true)
  return toHex(new Uint8Array(hash.buffer))
}

/** @param {BigUint64Array} state @param {number} lane */
const at = (state, lane) => state[lane] ?? 0n

/** The 24 rounds of Keccak-f[1600] (FIPS 202, 3.2). @param {BigUint64Array} state of 5 × 5 lanes, (x, y) at x + 5y */
function permute(state) {
  let register = 1
  for (let round = 0; round < 24; round++) {
    theta(state)
    rhoAndPi(state)
    chi(state)
    // Iota: the bits of the round's constant come out of a shift register of eight bits.
    for (let bit = 0; bit < 7; bit++) {
      if ((register & 1) === 1) state[0] = at(state, 0) ^ (1n << BigInt(2 ** bit - 1))
      register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0)
    }
  }
}

/** @param {BigUint64Array} state */
function theta(state) {
  const columns = [0, 1, 2, 3, 4].map((x) => [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ at(state, x + y), 0n))
  for (let lane = 0; lane < 25; lane++) {
    const [left = 0n, right = 0n] = [columns[(lane + 4) % 5], columns[(lane + 1) % 5]]
    state[lane] = at(state, lane) ^ left ^ rotated(right, 1)
  }
}

/** @param {BigUint64Array} state */
function rhoAndPi(state) {
  let [x, y, moved] = [1, 0, at(state, 1)]
  for (let step = 0; step < 24; step++) {
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
    const next = at(state, x + 5 * y)
    state[x + 5 * y] = rotated(moved, (((step + 1) * (step + 2)) / 2) % 64)
    moved = next
  }
}

/** @param {BigUint64Array} state */
function chi(state) {
  for (let row = 0; row < 25; row += 5) {
    const lanes = [0, 1, 2, 3, 4].map((x) => at(state, row + x))
    for (const [x, lane] of lanes.entries()) {
      const [next = 0n, after = 0n] = [lanes[(x + 1) % 5], lanes[(x + 2) % 5]]
      state[row + x] = lane ^ (~next & after)
    }
  }
}

/**
 * Decodes bytes that are exactly one item (Ethereum's yellow paper, appendix B).
 * @param {Uint8Array} bytes
 * @returns {Item}
 */
export function decodeRlp(bytes) {
  const { item, end } = readItem(bytes, { from: 0, depth: 0 })
  if (end !== bytes.length) throw new Wrong('RLP must end with its item')
  return item
}

/** @param {Uint8Array} bytes @param {{ from: number, depth: number }} place @returns {{ item: Item, end: number }} */
function readItem(bytes, { from, depth }) {
  if (depth > MAX_DEPTH) throw new Wrong(`RLP must be at most ${MAX_DEPTH} lists deep`)
  const first = bytes[from]
  if (first === undefined) throw new Wrong('RLP must not end within an item')
  if (first < 0x80) return { item: bytes.subarray(from, from + 1), end: from + 1 }
  const isList = first >= 0xc0
  const { start, end } = readSpan(bytes, { from, short: first - (isList ? 0xc0 : 0x80) })
  if (!isList) {
    if (end - start === 1 && (bytes[start] ?? 0) < 0x80) throw new Wrong('RLP must be as short as can be')
    return { item: bytes.subarray(start, end), end }
  }
  /** @type {Item[]} */
  const items = []
  for (let next = start; next < end; ) {
    const read = readItem(bytes.subarray(0, end), { from: next, depth: depth + 1 })
    items.push(read.item)
    next = read.end
  }
  return { item: items, end }
}

/**
 * Returns the place of an item's content. Above 55 bytes its length is written out.
 * @param {Uint8Array} bytes
 * @param {{ from: number, short: number }} item
 */
function readSpan(bytes, { from, short }) {
  const digits = Math.max(0, short - 55)
  const start = from + 1 + digits
  const written = bytes.subarray(from + 1, start)
  const length = digits === 0 ? short : written.reduce((sum, digit) => sum * 256 + digit, 0)
  if (digits > 0 && (length <= 55 || written[0] === 0)) throw new Wrong('RLP must be as short as can be')
  if (start + length > bytes.length) throw new Wrong('RLP must not end within an item')
  return { start, end: start + length }
}

/** Returns the bytes of an item that is no list. @param {Item | undefined} item */
export function leafBytes(item) {
  if (item === undefined || Array.isArray(item)) throw new Wrong('RLP must have bytes here, not a list')
  return item
}

/** Parses a whole number without leading zeros. @param {Item | undefined} item */
export function parseQuantity(item) {
  const bytes = leafBytes(item)
  if (bytes.length > 32 || bytes[0] === 0) throw new Wrong('a number must have no leading zeros and at most 32 bytes')
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes))
}

/**
 * Returns the key of a receipt in its trie: the place of its transaction in the block, in RLP.
 * @param {number} index
 */
export function indexKey(index) {
  if (index > 0 && index < 0x80) return index.toString(16).padStart(2, '0')
  const digits = index === 0 ? '' : index.toString(16)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  return (0x80 + even.length / 2).toString(16) + even
}

/** @param {string} text @returns {unknown} */
export function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Wrong('it must be JSON')
  }
}

/** @param {unknown} value @param {string} name @returns {Readonly<Record<string, unknown>>} */
export function asObject(value, name) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Wrong(`${name} must be an object`)
  return /** @type {Record<string, unknown>} */ (value)
}

/** @param {Readonly<Record<string, unknown>>} claims @param {string} name */
export function readWhole(claims, name) {
  const value = claims[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Wrong(`claims.${name} must be a whole number`)
  return value
}

/** @param {Readonly<Record<string, unknown>>} claims @param {string} name */
export function readAddress(claims, name) {
  const value = claims[name]
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/.test(value))
    throw new Wrong(`claims.${name} must be an address in lower case`)
  return value
}
