import { withoutCharacters } from '../text.ts'

/** In characters: the longest address that mail servers take (RFC 5321, 4.5.3.1.3, less the angle brackets). */
const LONGEST = 254

/** One @, no spaces or controls, a dot in the domain. Whether the address exists, only a mail that arrives can tell. */
const FORM =
  /^[^\s@<>(),;:"[\]\\\p{Cc}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u

/**
 * The address in the one form in which it is stored and compared, without the invisible characters that a copied one may
 * have; null when it cannot be one.
 */
export function readEmail(text: string): string | null {
  const email = withoutCharacters(text.normalize('NFKC'), 'invisible', 'turn').trim().toLowerCase()
  return email.length <= LONGEST && FORM.test(email) ? email : null
}
