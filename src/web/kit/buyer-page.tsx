import type { ComponentChildren } from 'preact'
import { ASSETS, brandSheet } from './assets.ts'
import type { Hex } from './look/color.ts'
import { Icon } from './look/icons.tsx'
import { type LanguageChange, LanguageMenu } from './look/languages.tsx'
import { LANGUAGES } from './messages/locales.ts'
import type { Words } from './messages/words.ts'
import { renderHtml } from './render.ts'

export type PageShape = {
  readonly words: Words
  readonly title: string
  readonly testMode: boolean
  /** Developers' tools, in test mode. */
  readonly tools?: ComponentChildren
  /** The merchant's color; null for Pinrail's color. */
  readonly brand: Hex | null
  /** Without JavaScript, the page loads again after `seconds`, from `url` or from its own URL. Absent: never. */
  readonly refresh?: { readonly seconds: number; readonly url: string | undefined }
  /** Opens this URL at once: the hand-off to a partner. */
  readonly goTo?: string
  /** The preview of the page in a chat. A page with a preview is not indexed by search engines. */
  readonly card?: { readonly title: string; readonly text: string; readonly url: string }
  readonly foot?: ComponentChildren
  /** The choice of a language. Absent: the page has no choice. */
  readonly languages?: LanguageChange
  /** The path of the page outside the merchant's frame. Present: the page is in a frame, and links open outside it. */
  readonly wholePage?: string
  readonly children: ComponentChildren
}

/** HTML Living Standard, 2.5.8; the types of the elements do not have it. */
const BEFORE_PAINT = { blocking: 'render' }

export function renderPage(page: PageShape): string {
  return renderHtml(<Document {...page} />)
}

function Document(page: PageShape) {
  const { words, title, testMode, tools, brand, refresh, goTo, card, foot, languages, wholePage, children } = page
  const { t, locale } = words
  const { dir, formats } = LANGUAGES[locale]
  return (
    <html lang={locale} dir={dir} data-formats={formats}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        {/* With no-referrer, a browser sends `Origin: null` with the page's forms. Other origins still get nothing. */}
        <meta name="referrer" content="same-origin" />
        {wholePage !== undefined && <base target="_blank" />}
        {card !== undefined && <Card {...card} />}
        {goTo !== undefined && <meta http-equiv="refresh" content={`0;url=${goTo}`} />}
        {refresh !== undefined && (
          <noscript>
            <meta
              http-equiv="refresh"
              content={[refresh.seconds, refresh.url && `url=${refresh.url}`].filter(Boolean).join(';')}
            />
          </noscript>
        )}
        <link rel="icon" href={ASSETS.icon} type="image/svg+xml" />
        <link rel="stylesheet" href={ASSETS.style} />
        {brand !== null && <link rel="stylesheet" href={brandSheet(brand)} />}
        {tools !== undefined && <link rel="stylesheet" href={ASSETS.sandboxStyle} />}
        {/* It writes the times in the buyer's time zone before the first paint, so the layout does not shift. */}
        <script src={ASSETS.script} type="module" {...BEFORE_PAINT} />
        {wholePage !== undefined && <script src={ASSETS.frameScript} type="module" />}
      </head>
      <body>
        <a class="skip" href="#main" target={wholePage === undefined ? undefined : '_self'}>
          {t('page.skip')}
        </a>
        {testMode && (
          <aside class="test" aria-label={t('page.test_mode')}>
            <p>
              <b class="tag">{t('page.test')}</b> {t('page.test.text')}
            </p>
            {tools}
          </aside>
        )}
        {children}
        <footer class="foot">
          <p>
            <Icon name="rail" /> <span>{t('page.footer')}</span>
          </p>
          {foot}
          {wholePage !== undefined && (
            <p>
              <a href={wholePage} target="_top">
                {t('page.whole')}
              </a>
            </p>
          )}
          {languages !== undefined && <LanguageMenu {...languages} words={words} />}
        </footer>
      </body>
    </html>
  )
}

function Card({ title, text, url }: NonNullable<PageShape['card']>) {
  return (
    <>
      <meta name="robots" content="noindex" />
      <meta name="description" content={text} />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={text} />
      <meta property="og:url" content={url} />
    </>
  )
}
