export type ApiCall = {
  readonly method: string
  /** The URL, with environment variables for ids: `{PAYMENT_ID}`. */
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: object | null
}

/** A piece of a text with variables: some text, and the variable that follows it, if any. */
export type Piece = { readonly text: string; readonly variable: string | null }

const VARIABLE = /\{([A-Z_]+)\}/

/** Splits a URL into pieces, so that each language can insert its variables. */
export function splitUrl(url: string): Piece[] {
  const parts = url.split(VARIABLE)
  return parts.flatMap((text, index) => (index % 2 === 1 ? [] : [{ text, variable: parts[index + 1] ?? null }]))
}

export const hasVariable = (url: string): boolean => VARIABLE.test(url)

/**
 * Parses a call of the guides: method and path, headers, an empty line, and the body as JSON. Throws a SyntaxError for
 * any other form.
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
