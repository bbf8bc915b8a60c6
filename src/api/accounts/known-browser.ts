import { createHmac } from 'node:crypto'
import { sameText } from './tokens.ts'

/**
 * The cookie of a browser in which an address signed in before: a name for the address, and a signature of the name, each
 * an HMAC. It signs nobody in. Strangers cannot make one, so what they ask for is counted apart from its owner.
 */

const NAME_LENGTH = 22

const hmac = (pepper: string, text: string): string => createHmac('sha256', pepper).update(text).digest('base64url')

const signed = (pepper: string, name: string): string =>
  `${name}${hmac(pepper, `known browser of ${name}`).slice(0, 43 - NAME_LENGTH)}`

export function knownBrowserToken(pepper: string, email: string): string {
  return signed(pepper, hmac(pepper, `known browser ${email}`).slice(0, NAME_LENGTH))
}

/** True if we have set the cookie, for whichever address. */
export function isKnownBrowser(pepper: string, token: string | null): token is string {
  return token !== null && sameText(token, signed(pepper, token.slice(0, NAME_LENGTH)))
}
