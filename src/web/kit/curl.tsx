import { Fold } from './fold.tsx'

type Called = { readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly body?: object }

/** Returns the curl command of an API request. The key is read from the environment, so no shell history keeps it. */
export function curlText(url: string, { method = 'GET', body }: Called = {}): string {
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`, '-H "authorization: Bearer $SECRET_KEY"']
  if (body !== undefined) parts.push("-H 'content-type: application/json'", `-d '${quoteShell(JSON.stringify(body))}'`)
  return parts.join(' \\\n  ')
}

/** Escapes a text for the single quotes of a POSIX shell. */
function quoteShell(text: string): string {
  return text.replaceAll("'", `'\\''`)
}

type CurlProps = { readonly command: string; readonly title?: string; readonly open?: boolean }

/** The curl command that does what the page does. */
export function Curl({ command, title = 'Show as curl', open = false }: CurlProps) {
  return (
    <Fold title={title} icon="code" open={open}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} aria-label="curl command">
        <code>{command}</code>
      </pre>
    </Fold>
  )
}
