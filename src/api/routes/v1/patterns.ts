import { LABEL, LAST_LABEL } from '../../../domain/host.ts'
import { characterClass } from '../../../domain/text.ts'

/**
 * Patterns of the OpenAPI document and the server, with only the common features of JavaScript, Python and Java: no
 * property classes, no flags.
 */

/** Adds to the JSON Schema of a value what its zod schema does not express. */
export const extendJsonSchema = (more: object) => ({
  override: ({ jsonSchema }: { jsonSchema: object }) => void Object.assign(jsonSchema, more),
})

const DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))'
/** 1972 to 9996; full centuries only if 400 divides them. */
const LEAP_YEAR = '(?:19(?:7[26]|8[048]|9[26])|(?:[2468][048]|[3579][26])00|[2-9]\\d(?:0[48]|[2468][048]|[13579][26]))'
const TIME = 'T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)'

/** ISO 8601 from 1970 to 9999, or whole seconds since 1970. */
export const MOMENT = new RegExp(`^(?:\\d{1,11}|(?:(?:19[7-9]\\d|[2-9]\\d{3})-${DAY}|${LEAP_YEAR}-02-29)${TIME})$`)

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`
const PORT = '(?::(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]))?'
/** A URL has none of these. */
const UNSEEN = characterClass('control', 'break', 'turn', 'invisible', 'blank')
const scheme = (name: string): string => Array.from(name, (letter) => `[${letter}${letter.toUpperCase()}]`).join('')

/** https, or http on the developer's own machine; a host in ASCII, without user name and password. */
export const RETURN_URL = new RegExp(
  `^(?:${scheme('https')}://(?:(?:${LABEL}\\.)*${LAST_LABEL}\\.?|${IPV4}|\\[::1\\])|${scheme('http')}://(?:localhost|127\\.0\\.0\\.1|\\[::1\\]))${PORT}(?:[/?#][^${UNSEEN}]*)?$`,
)

/** The grammar of the header that lists the origins has no underscore (CSP Level 3, 2.3.1). */
const PLAIN_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const PLAIN_LAST = '[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'

/** The origin of a page, and in test mode of the developer's own machine. `readOrigin` is stricter. */
export const ORIGIN = `^(?:${scheme('https')}://(?:${PLAIN_LABEL}\\.)+${PLAIN_LAST}|${scheme('http')}://(?:localhost|127\\.0\\.0\\.1))${PORT}/?$`

const LOCAL = '(?:localhost|local|internal|localdomain|home\\.arpa|lan|intranet)'

const PUBLIC_NAME = `(?!(?:[^/?]*\\.)?${LOCAL}\\.?(?:[:/?]|$))(?:${LABEL}\\.)+${LAST_LABEL}\\.?`

/** https, a public name, no fragment. `checkEndpointUrl` is stricter, for example in live mode about the port. */
export const ENDPOINT_URL = `^${scheme('https')}://${PUBLIC_NAME}${PORT}(?:[/?][^#${UNSEEN}]*)?$`

/** As `isSafeText` accepts it. A visible line has at least one visible character. */
export function textPattern(kind: 'line' | 'lines' | 'visible line'): string {
  const safe = `[^${characterClass('control', 'turn', ...(kind === 'lines' ? [] : (['break'] as const)))}]*`
  return kind === 'visible line' ? `^${safe}[^${characterClass()}]${safe}$` : `^${safe}$`
}

export const SEARCHED = new RegExp(`^[^${characterClass('control', 'break')}]*$`)

/** Above zero, with at most two decimals, the most of any accepted currency. */
export const AMOUNT = /^(?:[1-9]\d{0,11}(?:\.\d{1,2})?|0\.(?:0[1-9]|[1-9]\d?))$/
