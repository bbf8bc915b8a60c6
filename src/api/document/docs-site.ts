import type { Percent } from '../../domain/money.ts'
import type { Platform } from '../../domain/platform.ts'
import { EMBED_SCRIPT } from '../../web/assets.ts'
import type { Language } from '../../web/docs/code/languages.ts'
import type { DocsFrame, DocsGroup, DocsPlace } from '../../web/docs/docs-page.tsx'
import { renderErrors } from '../../web/docs/errors.tsx'
import { renderGuide } from '../../web/docs/guide.tsx'
import { GUIDES } from '../../web/docs/guides.ts'
import { plainMarkdown, readGuide } from '../../web/docs/markdown.ts'
import { type ReferenceView, renderReference } from '../../web/docs/reference.tsx'
import { referenceMarkdown } from '../../web/docs/reference-markdown.ts'
import type { Found } from '../../web/docs/search.tsx'
import { llmsText, renderStart, START_LEAD } from '../../web/docs/start.tsx'
import { FIELD_CODES, PROBLEMS } from '../http/problem-codes.ts'
import { type Operation, TAGS } from '../operation.ts'
import { createDocsIndex, createDocsSearch, splitPage } from './docs-search.ts'
import { errorDocs } from './error-docs.ts'
import { openApiDocument } from './openapi.ts'
import { operationEntries } from './operation-entries.ts'

export type DocsPage = DocsPlace & {
  readonly html: (frame: DocsFrame) => string
  readonly markdown: () => string
  /** The anchor of a Markdown heading. By default the slug of the heading. */
  readonly toAnchor?: (heading: string) => string
}

export type DocsSite = {
  readonly pages: readonly DocsPage[]
  frame(path: string, language: Language): DocsFrame
  readonly llms: string
  readonly openApi: string
  /** See `createDocsIndex`. */
  readonly index: string
  search(query: string): Found[]
}

export const DOCS_PATH = '/docs'
export const ERRORS_PATH = '/docs/errors'

type Options = {
  readonly platform: Platform
  readonly operations: readonly Operation[]
  readonly publicUrl: string
  /** The test deployment, if it is known. */
  readonly testUrl: string
  readonly feePercent: Percent
}

export function createDocsSite({ platform, operations, publicUrl, testUrl, feePercent }: Options): DocsSite {
  const guides = guidePages(testUrl, feePercent)
  const openApi = JSON.stringify(openApiDocument(operations, publicUrl))
  const reference = [...referencePages(operationEntries(operations, { publicUrl, openApi })), errorsPage()]
  const groups: DocsGroup[] = [
    { name: 'Guides', places: [{ path: DOCS_PATH, title: 'Documentation', lead: START_LEAD }, ...guides] },
    { name: 'API reference', places: reference },
  ]
  const sections = [...guides, ...reference].flatMap(splitPage)
  const llms = llmsText(groups, { name: platform.name, publicUrl })
  const start = { path: DOCS_PATH, title: 'Documentation', lead: START_LEAD, html: renderStart, markdown: () => llms }
  return {
    pages: [start, ...guides, ...reference],
    frame: (path, language) => ({ platform, groups, path, language }),
    llms,
    openApi,
    index: createDocsIndex(sections),
    search: createDocsSearch(sections),
  }
}

function guidePages(origin: string, feePercent: Percent): DocsPage[] {
  return Object.entries(GUIDES).map(([name, written]) => {
    const text = fillIn(written, origin, feePercent)
    const guide = readGuide(text)
    return {
      path: `${DOCS_PATH}/${name}`,
      title: guide.title,
      lead: guide.lead.replaceAll('`', ''),
      html: (frame) => renderGuide({ frame, guide, origin }),
      markdown: () => plainMarkdown(text, origin),
    }
  })
}

/** Fills in the URLs and the fee of this deployment, so that a line can be copied unchanged. */
function fillIn(text: string, origin: string, feePercent: Percent): string {
  const { path, integrity } = EMBED_SCRIPT
  return text
    .replaceAll('{PINRAIL}', origin)
    .replaceAll('{SCRIPT}', origin + path)
    .replaceAll('{INTEGRITY}', integrity)
    .replaceAll('{FEE}', feePercent)
}

function referencePages(entries: ReturnType<typeof operationEntries>): DocsPage[] {
  return Object.entries(TAGS).map(([title, purpose]) => {
    const view: ReferenceView = { title, purpose, operations: entries.filter(({ tag }) => tag === title) }
    return {
      path: `${DOCS_PATH}/api/${slugOfTag(title)}`,
      title,
      lead: purpose,
      html: (frame) => renderReference(frame, view),
      markdown: () => referenceMarkdown(view),
      toAnchor: (heading) => view.operations.find(({ summary }) => summary === heading)?.operationId ?? '',
    }
  })
}

const slugOfTag = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-')

function errorsPage(): DocsPage {
  const errors = Object.entries(PROBLEMS).map(([code, problem]) => ({ code, ...problem }))
  const fields = Object.entries(FIELD_CODES).map(([code, text]) => ({ code, text }))
  return {
    path: ERRORS_PATH,
    title: 'Errors',
    lead: 'What each error means, and what to do about it.',
    html: (frame) => renderErrors(frame, { errors, fields }),
    markdown: errorDocs,
    toAnchor: (heading) => (heading in PROBLEMS ? heading : 'fields'),
  }
}
