import { createSlug } from '../../web/docs/markdown.ts'
import { type Found, nameSection } from '../../web/docs/search.tsx'

type Section = { readonly path: string; readonly page: string; readonly heading: string; readonly text: string }

const MOST_FOUND = 20
const EXCERPT = 200

type SearchedPage = {
  readonly path: string
  readonly title: string
  readonly markdown: () => string
  readonly toAnchor?: (heading: string) => string
}

/**
 * The headings of all sections, as JSON: a list of `[path, name]`. A few kilobytes compressed, so the browser can search
 * it while a person types.
 */
export function createDocsIndex(sections: readonly Section[]): string {
  return JSON.stringify(sections.map(({ path, page, heading }) => [path, nameSection({ page, heading })]))
}

/** Searches for sections that contain every word. Those with the words in their heading come first. */
export function createDocsSearch(sections: readonly Section[]): (query: string) => Found[] {
  return (query) => {
    const words = normalize(query).split(/\s+/).filter(Boolean)
    if (words.length === 0) return []
    const found = sections.flatMap((section) => {
      const [heading, all] = [normalize(`${section.page} ${section.heading}`), normalize(section.text)]
      const inHeading = words.filter((word) => heading.includes(word)).length
      return words.every((word) => heading.includes(word) || all.includes(word)) ? [{ section, inHeading }] : []
    })
    return found
      .toSorted((a, b) => b.inHeading - a.inHeading)
      .slice(0, MOST_FOUND)
      .map(({ section: { path, page, heading, text } }) => ({
        path,
        page,
        heading,
        excerpt: excerptAround(text, words),
      }))
  }
}

const normalize = (text: string): string => text.normalize('NFKC').toLowerCase()

export function splitPage({ path, title, markdown, toAnchor = createSlug }: SearchedPage): Section[] {
  const [intro = '', ...parts] = markdown().split(/^## /m)
  return [
    { path, page: title, heading: title, text: intro },
    ...parts.map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      return { path: `${path}#${toAnchor(heading)}`, page: title, heading, text: lines.join('\n') }
    }),
  ]
}

function excerptAround(text: string, words: readonly string[]): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('```'))
  const line = lines.find((one) => normalize(one).includes(words[0] ?? '')) ?? lines[0] ?? ''
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line
}
