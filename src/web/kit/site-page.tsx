import type { ComponentChildren } from 'preact'
import type { Platform } from '../../domain/platform.ts'
import { ASSETS } from '../assets.ts'
import { renderDocument } from './document.tsx'
import { PlatformLinks } from './platform-links.tsx'
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
  /** The foot of a page whose navigation is next to it. */
  readonly foot?: ComponentChildren
  readonly children: ComponentChildren
}

export function Main({ narrow = false, look = '', follow, foot, children }: MainProps) {
  return (
    <main id="main" class={narrow ? 'page mid' : 'page'} tabIndex={-1}>
      <div class={['in', look].filter(Boolean).join(' ')} data-follow={follow}>
        {children}
      </div>
      {foot}
    </main>
  )
}

/** Renders a page with one box in its middle, such as the sign-in. */
export function renderBoxPage(platform: Platform, title: string, children: ComponentChildren): string {
  return renderDocument({
    ...SITE,
    platform,
    title: `${title} · ${platform.name}`,
    look: 'plain door',
    children: (
      <>
        <main id="main">
          <Wordmark platform={platform} href="/" />
          <section class="card" aria-labelledby="h">
            <h1 id="h">{title}</h1>
            {children}
          </section>
        </main>
        <Foot platform={platform} />
      </>
    ),
  })
}

export function Foot({ platform, children }: { platform: Platform; children?: ComponentChildren }) {
  return (
    <footer class="foot row between">
      <ul class="row">
        <li>
          <a href="/pricing">Pricing</a>
        </li>
        <li>
          <a href="/docs">Docs</a>
        </li>
        <li>
          <a href="/links/report">Report abuse</a>
        </li>
        <PlatformLinks platform={platform} />
      </ul>
      {children}
    </footer>
  )
}

type SitePage = {
  readonly platform: Platform
  readonly title: string
  readonly look?: string
  readonly children: ComponentChildren
}

/** Renders a page for people who are not signed in. */
export function renderSitePage({ platform, title, look, children }: SitePage): string {
  return renderDocument({
    ...SITE,
    platform,
    title: `${title} · ${platform.name}`,
    look: ['plain', look].filter(Boolean).join(' '),
    children: (
      <>
        <header class="site row between">
          <SkipLink />
          <Wordmark platform={platform} href="/" />
          <nav class="row" aria-label="Site">
            <a href="/pricing">Pricing</a>
            <a href="/docs">Docs</a>
            {platform.status !== null && <a href={platform.status}>Status</a>}
            <a class="button" href="/sign-in">
              Sign in
            </a>
          </nav>
        </header>
        {children}
        <Foot platform={platform}>
          <p>{platform.name} moves money from payment partners to your own wallet. It holds no balance for you.</p>
        </Foot>
      </>
    ),
  })
}
