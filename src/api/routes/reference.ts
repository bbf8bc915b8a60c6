import { type Request, type Response, Router } from 'express'
import { isLanguage, type Language } from '../../web/docs/code/languages.ts'
import { DOCS_INDEX, MAX_QUERY_CHARACTERS } from '../../web/docs/docs-page.tsx'
import { renderDocsSearch } from '../../web/docs/search.tsx'
import { PAGE_HEADERS } from '../../web/page-headers.ts'
import type { DocsPage, DocsSite } from '../document/docs-site.ts'
import { onlyMethods } from '../route.ts'

const DOCUMENT = ['/openapi.json', '/v1/openapi.json']
const LLMS = '/llms.txt'
const SEARCH = '/docs/search'

/** Public: they need no key. */
export function referenceRouter(site: DocsSite): Router {
  const router = Router()
  router.get(DOCUMENT, (_request, response) => {
    response.type('application/json').send(site.openApi)
  })
  router.get(LLMS, (_request, response) => {
    response.type('text/plain').send(site.llms)
  })
  router.get(DOCS_INDEX, (_request, response) => {
    response.type('application/json').send(site.index)
  })
  router.get(SEARCH, (request, response) => {
    const { q } = request.query
    const query = typeof q === 'string' ? q.trim().slice(0, MAX_QUERY_CHARACTERS) : ''
    const frame = site.frame(SEARCH, readLanguage(request))
    response
      .set(PAGE_HEADERS)
      .type('html')
      .send(renderDocsSearch(frame, query, site.search(query)))
  })
  router.all(SEARCH, onlyMethods(['GET']))
  for (const page of site.pages) {
    const rendered = renderedOnce(site, page)
    router.get(page.path, (request, response) => {
      publicPage(response)
        .type('html')
        .send(rendered(readLanguage(request)))
    })
    router.get(`${page.path}.md`, (_request, response) => {
      publicPage(response).type('text/markdown').send(page.markdown())
    })
  }
  router.all(
    [...DOCUMENT, LLMS, DOCS_INDEX, ...site.pages.flatMap(({ path }) => [path, `${path}.md`])],
    onlyMethods(['GET']),
  )
  return router
}

/** Search engines can index only these pages and the home page. */
function publicPage(response: Response): Response {
  const { 'x-robots-tag': _hidden, ...headers } = PAGE_HEADERS
  return response.set(headers)
}

const readLanguage = ({ query }: Request): Language => (isLanguage(query['lang']) ? query['lang'] : 'curl')

/** A page never changes while the process runs, so it is rendered once in each language. */
function renderedOnce(site: DocsSite, page: DocsPage): (language: Language) => string {
  const kept = new Map<Language, string>()
  return (language) => {
    const html = kept.get(language) ?? page.html(site.frame(page.path, language))
    kept.set(language, html)
    return html
  }
}
