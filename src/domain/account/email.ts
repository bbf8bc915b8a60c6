import { withoutCharacters } from '../text.ts'

/** The longest address that mail servers accept, in characters (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const LONGEST = 254

/** One @, no spaces or controls, a dot in the domain. Only a mail that arrives proves that the address exists. */
const FORM =
  /^[^\s@<>(),;:"[\]\\\p{Cc}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u

/** Removes the invisible characters that a copied address can contain. Null: it is not an address. */
export function readEmail(text: string): string | null {
  const email = withoutCharacters(text.normalize('NFKC'), 'invisible', 'turn').trim().toLowerCase()
  return email.length <= LONGEST && FORM.test(email) ? email : null
}

/** Returns the values without e-mail addresses, for a log that is never deleted. */
export function hideEmails(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const hide = (value: unknown): unknown =>
    typeof value === 'string' && readEmail(value) !== null ? '(hidden)' : value
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hide(value)]))
}

/** Masks the address as `n…@shop.example`: the team recognizes whom it invited, and cannot write to the person. */
export const maskEmail = (email: string): string => email.replace(/^(.).*@/su, '$1…@')
