import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** Elements with what is not language: code, exact values, the words of shops and partners, by their name or class. */
const NOT_LANGUAGE =
  /<(?:bdi|code|data)(?=[ >])|<\w+(?=(?: [\w-]+(?:="[^"]*")?)*? class="(?:shop|value|id|cost|num)[" ])/g

/** A whole HTML document as text, in which browsers that translate pages leave these elements as they are. */
export function renderHtml(page: VNode): string {
  // A text has no `<`, so only elements match.
  return `<!doctype html>${renderToString(page).replace(NOT_LANGUAGE, '$& translate="no"')}`
}
