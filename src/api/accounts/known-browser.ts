import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../runtime/constant-time.ts'

/**
 * The cookie of a browser in which an e-mail address signed in before: a name for the address and a signature of the
 * name, each an HMAC. It signs nobody in. Strangers cannot make one, so their requests are counted separately from the
 * owner's.
 */

const NAME_LENGTH = 22

const hmac = (pepper: string, text: string): string => createHmac('sha256', pepper).update(text).digest('base64url')

const signed = (pepper: string, name: string): string =>
  `${name}${hmac(pepper, `known browser of ${name}`).slice(0, 43 - NAME_LENGTH)}`

export function knownBrowserToken(pepper: string, email: string): string {
  return signed(pepper, hmac(pepper, `known browser ${email}`).slice(0, NAME_LENGTH))
}

/** True if the platform set the cookie, for any address. */
export function isKnownBrowser(pepper: string, token: string | null): token is string {
  return token !== null && isSameSecret(token, signed(pepper, token.slice(0, NAME_LENGTH)))
}
