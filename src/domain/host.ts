/** Host names of return pages and webhooks. An underscore is valid, because DNS, browsers and URL parsers accept it. */

const label = (first: string): string => `[${first}](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`
export const LABEL = label('A-Za-z0-9_')
/** The last label begins with a letter: otherwise a URL parser reads the host as a number. */
export const LAST_LABEL = label('A-Za-z')

/** A name with a domain, as the parser writes it: in ASCII, without a trailing full stop. */
export const HOST_NAME = new RegExp(`^(?:${LABEL}\\.)+${LAST_LABEL}$`)
