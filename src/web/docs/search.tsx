import { type DocsFrame, renderDocs } from './docs-page.tsx'

/** A section of a page that contains the words. */
export type Found = { readonly path: string; readonly page: string; readonly heading: string; readonly excerpt: string }

export const nameSection = ({ page, heading }: Pick<Found, 'page' | 'heading'>): string =>
  heading === page ? page : `${page}: ${heading}`

export function renderDocsSearch(frame: DocsFrame, query: string, found: readonly Found[]): string {
  return renderDocs({
    frame,
    title: query === '' ? 'Search' : `Search: ${query}`,
    headings: [],
    markdown: false,
    children:
      found.length === 0 ? (
        <p>
          {query === ''
            ? 'Enter a word, a field or an error code.'
            : 'No page contains all of these words. Try fewer words.'}
        </p>
      ) : (
        <ul class="places">
          {found.map(({ path, page, heading, excerpt }) => (
            <li key={path}>
              <a href={path}>{nameSection({ page, heading })}</a>
              <p>{excerpt}</p>
            </li>
          ))}
        </ul>
      ),
  })
}
