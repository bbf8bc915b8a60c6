type Called = { readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly body?: object }

/** The command that asks the API for the same. The key is read from the environment, so that no history keeps it. */
export function curlText(url: string, { method = 'GET', body }: Called = {}): string {
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`, '-H "authorization: Bearer $SECRET_KEY"']
  if (body !== undefined) parts.push("-H 'content-type: application/json'", `-d '${quoted(JSON.stringify(body))}'`)
  return parts.join(' \\\n  ')
}

/** Inside the single quotes of a POSIX shell. */
function quoted(text: string): string {
  return text.replaceAll("'", `'\\''`)
}
