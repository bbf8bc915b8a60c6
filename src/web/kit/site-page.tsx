import type { ComponentChildren } from 'preact'
import { ASSETS } from '../assets.ts'
import { renderDocument } from './document.tsx'
import { Wordmark } from './wordmark.tsx'

/** The style and the script of the pages that are in English: home, sign-in, dashboard, documentation. */
export const SITE = { styles: [ASSETS.siteStyle], script: ASSETS.siteScript } as const

export function SkipLink() {
  return (
    <a class="skip" href="#main">
      Skip to content
    </a>
  )
}

type MainProps = {
  /** True for a form or a text: the column is narrower. */
  readonly narrow?: boolean
  /** Additional classes of the column. */
  readonly look?: string
  /** The path of a stream of events. The page reloads its content with each event. */
  readonly follow?: string | undefined
  readonly children: ComponentChildren
}

/** The content of a page: one column. */
export function Main({ narrow = false, look = '', follow, children }: MainProps) {
  return (
    <main id="main" class={narrow ? 'page mid' : 'page'} tabIndex={-1}>
      <div class={['in', look].filter(Boolean).join(' ')} data-follow={follow}>
        {children}
      </div>
    </main>
  )
}

/** Renders a page that is one box, such as the sign-in. */
export function renderDoor(title: string, children: ComponentChildren): string {
  return renderDocument({
    ...SITE,
    title: `${title} · Pinrail`,
    look: 'plain door',
    children: (
      <>
        <main id="main">
          <Wordmark href="/" />
          <section class="card" aria-labelledby="h">
            <h1 id="h">{title}</h1>
            {children}
          </section>
        </main>
        <footer class="foot row">
          <ul class="row">
            <Place href="/docs">Docs</Place>
          </ul>
        </footer>
      </>
    ),
  })
}

/** The URLs of the operator's pages and the operator's e-mail address; null if not configured. */
export type OperatorPages = {
  readonly status: string | null
  readonly terms: string | null
  readonly privacy: string | null
  readonly contact: string | null
}

export const NO_PAGES: OperatorPages = { status: null, terms: null, privacy: null, contact: null }

function Place({ href, children }: { href: string | null; children: string }) {
  return href === null ? null : (
    <li>
      <a href={href}>{children}</a>
    </li>
  )
}

export function ContactSupport({ contact }: Pick<OperatorPages, 'contact'>) {
  return contact === null ? <>Contact support</> : <a href={`mailto:${contact}`}>Contact support</a>
}

type SitePage = {
  readonly title: string
  readonly look?: string
  /** Absent: the page has no links to the operator's pages. */
  readonly pages?: OperatorPages
  readonly children: ComponentChildren
}

/** Renders a page for people who are not signed in. */
export function renderSitePage({ title, look, pages = NO_PAGES, children }: SitePage): string {
  return renderDocument({
    ...SITE,
    title: `${title} · Pinrail`,
    look: ['plain', look].filter(Boolean).join(' '),
    children: (
      <>
        <header class="site row between">
          <SkipLink />
          <Wordmark href="/" />
          <nav class="row" aria-label="Site">
            <a href="/docs">Docs</a>
            {pages.status !== null && <a href={pages.status}>Status</a>}
            <a class="button" href="/sign-in">
              Sign in
            </a>
          </nav>
        </header>
        {children}
        <footer class="foot row between">
          <ul class="row">
            <Place href="/docs">Docs</Place>
            <Place href="/links/report">Report abuse</Place>
            <Place href={pages.status}>Status</Place>
            <Place href={pages.terms}>Terms</Place>
            <Place href={pages.privacy}>Privacy</Place>
            <Place href={pages.contact && `mailto:${pages.contact}`}>Contact</Place>
          </ul>
          <p>Pinrail moves money from payment partners to your own wallet. It holds no balance for you.</p>
        </footer>
      </>
    ),
  })
}
