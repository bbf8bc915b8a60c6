import { readFileSync } from 'node:fs'
import { Reader, type Response } from 'mmdb-lib'
import { isCountry } from '../domain/countries.ts'

/**
 * Reads the file of countries that the operator supplies, in the MaxMind DB format
 * (https://maxmind.github.io/MaxMind-DB/). Throws if it cannot be read: an operator who configures a file expects it to be used.
 */
export function createLocate(path: string): (address: string) => string | null {
  const reader = new Reader<Response>(readFileSync(path))
  return (address) => {
    const code = countryIn(reader, address)
    return code !== null && isCountry(code) ? code : null
  }
}

/** An IPv4 address on a socket of both kinds (RFC 4291, 2.5.5.2). */
const MAPPED = /^::ffff:(?=\d+\.)/i

/** Returns null for a text that is not an IP address. */
function countryIn(reader: Reader<Response>, address: string): string | null {
  try {
    const found: unknown = reader.get(address.replace(MAPPED, ''))
    const { country } = (found ?? {}) as { country?: { iso_code?: unknown } }
    return typeof country?.iso_code === 'string' ? country.iso_code : null
  } catch {
    return null
  }
}
