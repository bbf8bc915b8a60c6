/** A request to the API as an example shows it. */
export type ApiCall = {
  readonly method: string
  /** With a variable of the environment where an id stands: `{PAYMENT_ID}`. */
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Null: without one. */
  readonly body: object | null
}

/** One argument of a text in which variables stand: what is written, and then the variable, if one follows. */
export type Piece = { readonly text: string; readonly variable: string | null }

const VARIABLE = /\{([A-Z_]+)\}/

/** The url in pieces, so that each language can put its variables in between. */
export function piecesOf(url: string): Piece[] {
  const parts = url.split(VARIABLE)
  return parts.flatMap((text, index) => (index % 2 === 1 ? [] : [{ text, variable: parts[index + 1] ?? null }]))
}

export const hasVariable = (url: string): boolean => VARIABLE.test(url)

/**
 * Reads a call as the guides write it: method and path, headers, an empty line, the body as JSON. Throws when it is
 * written in another way.
 */
export function readCall(text: string, origin: string): ApiCall {
  const [head = '', ...rest] = text.trim().split('\n\n')
  const [first = '', ...lines] = head.split('\n')
  const [, method, path] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S+)$/.exec(first) ?? []
  if (method === undefined || path === undefined) throw new SyntaxError(`no method and path: ${first}`)
  const headers = lines.map((line) => {
    const [, name, value] = /^([\w-]+): (.+)$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new SyntaxError(`no header: ${line}`)
    return [name, value] as const
  })
  const body = rest.length === 0 ? null : (JSON.parse(rest.join('\n\n')) as object)
  return { method, url: `${origin}${path}`, headers, body }
}
