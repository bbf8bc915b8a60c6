import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** Elements that must not be translated: code, exact values, and the names of merchants and partners. */
const NOT_LANGUAGE =
  /<(?:bdi|code|data)(?=[ >])|<\w+(?=(?: [\w-]+(?:="[^"]*")?)*? class="(?:shop|value|id|cost|num)[" ])/g

/** Renders an HTML document and marks the elements that a browser must not translate. */
export function renderHtml(page: VNode): string {
  // Preact escapes `<` in text, so only elements match.
  return `<!doctype html>${renderToString(page).replace(NOT_LANGUAGE, '$& translate="no"')}`
}
