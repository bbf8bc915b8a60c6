import type { ComponentChildren } from 'preact'
import { ASSETS } from '../assets.ts'
import { renderHtml } from '../render.ts'
import { Mark } from './icons.tsx'

export type DocumentShape = {
  readonly title: string
  /** The classes of the body: `app` has a rail, `plain door` is a box, `plain` is a page of the site. */
  readonly look: string
  readonly children: ComponentChildren
}

export function renderDocument({ title, look, children }: DocumentShape): string {
  return renderHtml(
    <html lang="en" dir="ltr">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · Pinrail`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        {/* With no-referrer, a browser sends `Origin: null` with the page's forms. Other origins still get nothing. */}
        <meta name="referrer" content="same-origin" />
        <link rel="icon" href={ASSETS.icon} type="image/svg+xml" />
        <link rel="stylesheet" href={ASSETS.siteStyle} />
        <script src={ASSETS.siteScript} type="module" />
      </head>
      <body class={look}>{children}</body>
    </html>,
  )
}

/** Renders a page that is one box, such as the sign-in. */
export function renderDoor(title: string, children: ComponentChildren): string {
  return renderDocument({
    title,
    look: 'plain door',
    children: (
      <>
        <main id="main">
          <a class="logo" href="/">
            <Mark />
            Pinrail
          </a>
          <section class="card" aria-labelledby="h">
            <h1 id="h">{title}</h1>
            {children}
          </section>
        </main>
        <footer class="foot row">
          <ul class="row">
            <li>
              <a href="/docs">Docs</a>
            </li>
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

function Out({ href, children }: { href: string | null; children: string }) {
  return href === null ? null : (
    <li>
      <a href={href}>{children}</a>
    </li>
  )
}

export function ContactSupport({ contact }: Pick<OperatorPages, 'contact'>) {
  return contact === null ? <>Contact support</> : <a href={`mailto:${contact}`}>Contact support</a>
}

export function renderSite(title: string, look: string, children: ComponentChildren): string {
  return renderOwnSite({ title, look, children }, NO_PAGES)
}

/** Renders a page for people who are not signed in, with links to the operator's pages. */
export function renderOwnSite({ title, look, children }: DocumentShape, pages: OperatorPages): string {
  return renderDocument({
    title,
    look: `plain ${look}`,
    children: (
      <>
        <header class="site row between">
          <a class="skip" href="#main">
            Skip to content
          </a>
          <a class="logo" href="/">
            <Mark />
            Pinrail
          </a>
          <nav class="row" aria-label="Site">
            <a href="/docs">Docs</a>
            {pages.status !== null && <a href={pages.status}>Status</a>}
            <a class="btn" href="/sign-in">
              Sign in
            </a>
          </nav>
        </header>
        {children}
        <footer class="foot row between">
          <ul class="row">
            <li>
              <a href="/docs">Docs</a>
            </li>
            <li>
              <a href="/links/report">Report abuse</a>
            </li>
            <Out href={pages.status}>Status</Out>
            <Out href={pages.terms}>Terms</Out>
            <Out href={pages.privacy}>Privacy</Out>
            <Out href={pages.contact && `mailto:${pages.contact}`}>Contact</Out>
          </ul>
          <p>Pinrail moves money from payment partners to your own wallet. It holds no balance for you.</p>
        </footer>
      </>
    ),
  })
}
