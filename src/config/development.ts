import { containsPublicMnemonic, publicKeys } from '../evm/public-keys.ts'

/**
 * Secrets made for development contain this mark, so that live mode can refuse them. It has 16 bytes: half of a 32-byte
 * key has room for it, and the other half is random.
 */
export const DEVELOPMENT_MARK = 'development-only'

/** Levels of encoding that are undone: a text in hexadecimal digits in base64 is found. */
const DEPTH = 3

/** A random key of 32 bytes has 30 different bytes on average, so a key with fewer than this many is not random. */
const DIFFERENT_BYTES = 16

/**
 * Returns why live mode must not use the secret, as the end of "… must not be"; null if it can. Examines every part of
 * a list, as text, and decoded from hexadecimal digits, base64, base64url, decimal digits and percent escapes.
 */
export function developmentSecret(value: string): string | null {
  const forms = [...decodeForms(Buffer.from(value), DEPTH)]
  if (forms.some((form) => form.toString('latin1').toLowerCase().includes(DEVELOPMENT_MARK)))
    return 'made for development'
  const known = publicKeys()
  if (forms.some((form) => known.has(form.toString('hex')) || containsPublicMnemonic(form.toString('latin1'))))
    return 'a public test key'
  return null
}

/** Returns true if a key shows a pattern: a repeated or a counted one, a small number, a typed text. */
export function isRegular(key: Buffer): boolean {
  return new Set(key).size < Math.min(DIFFERENT_BYTES, key.length / 2)
}

/** Yields the bytes of the value and of its parts, and what they decode to. */
function* decodeForms(value: Buffer, depth: number): Generator<Buffer> {
  yield value
  if (depth === 0) return
  const text = value.toString('latin1')
  // Lists, keys with an id, and URLs. A slash may also be a digit of base64.
  const parts = [...text.split(/[\s,;:]+/), ...text.split(/[\s,;:@/?&]+/), text.replace(/^whsec_/, '')]
  for (const part of new Set([text, ...parts]))
    for (const decoded of decodings(part)) if (!decoded.equals(value)) yield* decodeForms(decoded, depth - 1)
}

function decodings(text: string): Buffer[] {
  const found: Buffer[] = []
  if (/^(?:0x)?(?:[0-9a-f]{2}){8,}$/i.test(text)) found.push(Buffer.from(text.replace(/^0x/i, ''), 'hex'))
  if (/^[\w+/-]{16,}={0,2}$/.test(text)) found.push(Buffer.from(text, 'base64'))
  if (/^[1-9]\d{40,77}$/.test(text)) found.push(Buffer.from(BigInt(text).toString(16).padStart(64, '0'), 'hex'))
  if (/%[0-9a-f]{2}/i.test(text)) found.push(unescaped(text))
  return found
}

function unescaped(text: string): Buffer {
  return Buffer.from(
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number(`0x${digits}`))),
  )
}
