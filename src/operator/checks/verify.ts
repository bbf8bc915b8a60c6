import { readFileSync } from 'node:fs'
import { verifyReceipt } from '../../verifier/verifier.js'
import { type Call, Refusal } from '../call.ts'

/** The words for people. Programs read the original names. */
const RESULTS = { holds: 'passed', fails: 'failed', open: 'not checked' } as const
const CONCLUSIONS = {
  proved: 'PROVED: this payment was settled as the receipt says',
  wrong: 'WRONG: this receipt proves nothing',
  open: 'INCOMPLETE: nothing is wrong, but not everything was checked',
} as const

/**
 * Makes no request: everything to compare with is given. Returns 0 if everything holds, 1 if something is wrong or was
 * not compared.
 */
export async function verifyFile({ subjects: [file = ''], options, say, give }: Call): Promise<number> {
  const { verdict, checks } = await verifyReceipt(read(file), {
    blockHash: options['block-hash'],
    keys: options.keys === undefined ? undefined : readKeys(options.keys),
  })
  give('verdict', verdict)
  give('checks', checks)
  for (const { check, result, says } of checks) say(`${check} ${RESULTS[result]}: ${says}`)
  say(CONCLUSIONS[verdict])
  return verdict === 'proved' ? 0 : 1
}

/** Reads a JWK set (RFC 7517), in the form of `/.well-known/jwks.json`. */
function readKeys(file: string): { readonly kid?: string }[] {
  const set = parse(read(file))
  if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys))
    return set.keys.filter((key) => typeof key === 'object' && key !== null)
  throw new Refusal(`${file} must be a set of keys, as /.well-known/jwks.json has it`)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
