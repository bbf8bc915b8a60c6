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

/**
 * Returns one text for all spellings of an address that reach one mailbox, for limits: without the tag after a plus
 * (RFC 5233), and with the domain in ASCII. Never send to it.
 */
export function getMailbox(email: string): string {
  const at = email.lastIndexOf('@')
  const url = `https://${email.slice(at + 1)}`
  const domain = URL.canParse(url) ? new URL(url).hostname : email.slice(at + 1)
  return `${email.slice(0, at).replace(/(?<=.)\+.*$/su, '')}@${domain}`
}

/**
 * An address in a text or in the query of a URL: with an at sign that is plain, full-width or small, or is encoded. It is
 * looked for only from the beginning of a word: from each character, a long URL would take seconds.
 */
const ADDRESSES = /(?<![^&=?\s])[^&=?\s]+(?:[@\uff20\ufe6b]|%40|%ef%bc%a0|%ef%b9%ab)[^&\s]+/giu

export const hideAddresses = (text: string): string => text.replace(ADDRESSES, '(hidden)')

/** Returns the values without e-mail addresses, for a log that is never deleted. */
export function hideEmails(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const hide = (value: unknown): unknown => (typeof value === 'string' ? hideAddresses(value) : value)
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hide(value)]))
}

/** Masks the address as `n…@shop.example`: the team recognizes whom it invited, and cannot write to the person. */
export const maskEmail = (email: string): string => email.replace(/^(.).*@/su, '$1…@')
