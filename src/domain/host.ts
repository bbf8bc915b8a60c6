/** Names of hosts, for return pages and for webhooks. DNS, browsers and parsers of URLs take an underscore, so it is taken. */

const label = (first: string): string => `[${first}](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`
export const LABEL = label('A-Za-z0-9_')
/** The last label begins with a letter: otherwise a parser of URLs takes the host for a number. */
export const LAST_LABEL = label('A-Za-z')

/** A name with a domain, as the parser writes it: in ASCII, without a full stop at its end. */
export const HOST_NAME = new RegExp(`^(?:${LABEL}\\.)+${LAST_LABEL}$`)
