import type { ComponentChildren } from 'preact'
import type { Platform } from '../../domain/platform.ts'
import { ASSETS } from '../assets.ts'
import { renderDocument } from '../kit/document.tsx'
import { Icon } from '../kit/icon.tsx'
import { SideNav, TopBar } from '../kit/nav.tsx'
import { SearchForm } from '../kit/search.tsx'
import { Foot, SITE, SkipLink } from '../kit/site-page.tsx'
import type { Language } from './code/languages.ts'

export type DocsPlace = { readonly path: string; readonly title: string; readonly lead: string }
export type DocsGroup = { readonly name: string; readonly places: readonly DocsPlace[] }
export type Heading = { readonly id: string; readonly text: string }

export type DocsFrame = {
  readonly platform: Platform
  readonly groups: readonly DocsGroup[]
  readonly path: string
  readonly language: Language
}

export const MAX_QUERY_CHARACTERS = 100
/** The headings that the page's script searches. */
export const DOCS_INDEX = '/docs/index.json'

type Shape = {
  readonly frame: DocsFrame
  readonly title: string
  readonly lead?: ComponentChildren
  /** The headings of the page. A page with fewer than two has no list of headings. */
  readonly headings: readonly Heading[]
  /** True if the list is next to the text on wide screens; else it is above the text. */
  readonly aside?: boolean
  /** True if the page also exists as Markdown. */
  readonly markdown?: boolean
  /** The URL of the page's script, instead of the one that copies code. */
  readonly script?: string
  readonly children: ComponentChildren
}

/** Renders a page of the documentation. It works without JavaScript; a script copies code. */
export function renderDocs(shape: Shape): string {
  const { frame, title, script = SITE.script, markdown = true } = shape
  const { platform } = frame
  return renderDocument({
    platform,
    title: `${title} · ${platform.name} docs`,
    styles: [...SITE.styles, ASSETS.docsStyle],
    script,
    head: markdown && <link rel="alternate" type="text/markdown" href={`${frame.path}.md`} />,
    look: 'app docs',
    children: (
      <>
        <SkipLink />
        <TopBar platform={platform} home="/docs" homeName={`${platform.name} docs`}>
          Docs
        </TopBar>
        <Nav frame={frame} />
        <main id="main" class="page" tabIndex={-1}>
          <Content {...shape} markdown={markdown} />
          <Foot platform={platform} />
        </main>
      </>
    ),
  })
}

function Content({ frame, title, lead, headings, aside = false, markdown, children }: Shape) {
  return (
    <article class={aside ? 'in with-toc' : 'in'}>
      <header class="title">
        <h1>{title}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {markdown && (
          <p>
            <a href={`${frame.path}.md`}>This page as Markdown</a>
          </p>
        )}
      </header>
      {headings.length > 1 && (
        <nav class="toc" aria-labelledby="toc">
          <h2 id="toc">On this page</h2>
          <ul>
            {headings.map(({ id, text }) => (
              <li key={id}>
                <a href={`#${id}`}>{text}</a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <div class="prose">{children}</div>
    </article>
  )
}

function Nav({ frame }: { frame: DocsFrame }) {
  return (
    <SideNav platform={frame.platform} home="/" name="Documentation">
      <search>
        <SearchForm
          action="/docs/search"
          label="Search the docs"
          placeholder="Search the docs"
          maxLength={MAX_QUERY_CHARACTERS}
          index={DOCS_INDEX}
        />
      </search>
      <div>
        {frame.groups.map(({ name, places }, index) => (
          <div key={name}>
            <h2 id={`nav-${index}`}>{name}</h2>
            <ul aria-labelledby={`nav-${index}`}>
              {places.map((place) => (
                <li key={place.path}>
                  <a
                    href={inLanguage(place.path, frame.language)}
                    aria-current={place.path === frame.path ? 'page' : undefined}
                  >
                    {place.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      <ul>
        <li>
          <a href="/dashboard">
            <Icon name="home" />
            Dashboard
          </a>
        </li>
      </ul>
    </SideNav>
  )
}

/** Adds the reader's language to a URL of the documentation. Returns any other URL unchanged. */
export function inLanguage(href: string, language: Language): string {
  if (!/^\/docs(?:[/#]|$)/.test(href) || language === 'curl') return href
  const [path, anchor] = href.split('#')
  return `${path}?lang=${language}${anchor === undefined ? '' : `#${anchor}`}`
}

/** The text of a heading as a link to the heading, so that readers can share it. */
export function Anchor({ id, children }: { id: string; children: ComponentChildren }) {
  return (
    <a class="anchor" href={`#${id}`}>
      {children}
    </a>
  )
}
