import { z } from 'zod'
import { MAX_QUERY_CHARACTERS } from '../../web/docs/docs-page.tsx'
import type { DocsSite } from '../document/docs-site.ts'
import { refuseField } from '../http/problems.ts'
import { parseOrExplain } from '../http/validation.ts'
import { type ToolResult, textResult } from './results.ts'
import { type Hints, READS } from './tools.ts'

/** The public documentation as tools, which every key of an agent can use. */
export type DocsTool = {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType
  readonly hints: Hints
  readonly call: (site: Pick<DocsSite, 'pages' | 'search'>, sent: unknown) => ToolResult
}

const searched = z.strictObject({
  query: z.string().min(1).max(MAX_QUERY_CHARACTERS).meta({ description: 'Words that a section must contain.' }),
})
const read = z.strictObject({
  path: z.string().max(200).meta({ description: 'The path of a page, such as /docs/webhooks.' }),
})

export const DOCS_TOOLS: readonly DocsTool[] = [
  {
    name: 'search_docs',
    description: 'Search the documentation. Returns the path and the first lines of each section that has every word.',
    input: searched,
    hints: READS,
    call: (site, sent) => {
      const found = site.search(parseOrExplain(searched, sent).query)
      const lines = found.map(({ path, page, heading, excerpt }) => `${path} (${page}: ${heading})\n${excerpt}`)
      return textResult(lines.length === 0 ? 'No section has all of these words. Use fewer words.' : lines.join('\n\n'))
    },
  },
  {
    name: 'read_docs',
    description: 'Read a page of the documentation as Markdown. The page /docs lists all pages.',
    input: read,
    hints: READS,
    call: (site, sent) => {
      const path = parseOrExplain(read, sent).path.replace(/(?:\.md)?(?:#.*)?$/, '')
      const page = site.pages.find((one) => one.path === path)
      if (page === undefined) throw refuseField('path', 'must be the path of a page that /docs lists')
      return textResult(page.markdown())
    },
  },
]
