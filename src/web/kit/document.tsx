import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Platform } from '../../domain/platform.ts'
import { ASSETS } from '../assets.ts'
import { LANGUAGES, type Locale } from '../messages/locales.ts'
import { logoPath } from './logo.tsx'

export type DocumentShape = {
  readonly platform: Platform
  readonly title: string
  readonly locale?: Locale
  /** The paths of the style sheets, in the order in which they apply. */
  readonly styles: readonly string[]
  readonly script: string
  /** True if the page is painted only after its script has run. */
  readonly blocking?: boolean
  readonly head?: ComponentChildren
  /** The classes of the body. */
  readonly look?: string
  readonly children: ComponentChildren
}

/** HTML Living Standard, 2.5.8; the types of the elements do not have it. */
const BEFORE_PAINT = { blocking: 'render' }

export function renderDocument(shape: DocumentShape): string {
  const { platform, title, locale = 'en', styles, script, blocking = false, head, look, children } = shape
  const { dir, formats } = LANGUAGES[locale]
  const page = renderToString(
    <html lang={locale} dir={dir} data-formats={formats}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        {/* With no-referrer, a browser sends `Origin: null` with the page's forms. Other origins still get nothing. */}
        <meta name="referrer" content="same-origin" />
        <link rel="icon" href={platform.logo === null ? ASSETS.icon : logoPath(platform.logo)} />
        {styles.map((path) => (
          <link key={path} rel="stylesheet" href={path} />
        ))}
        <script src={script} type="module" {...(blocking && BEFORE_PAINT)} />
        {head}
      </head>
      <body class={look}>{children}</body>
    </html>,
  )
  return `<!doctype html>${forbidTranslation(page)}`
}

/** Elements that must not be translated: code, exact values, and the names of merchants and partners. */
const NOT_LANGUAGE =
  /<(?:bdi|code|data)(?=[ >])|<\w+(?=(?: [\w-]+(?:="[^"]*")?)*? class="(?:shop|value|id|cost|num)[" ])/g

/** Preact escapes `<` in text, so only elements match. */
function forbidTranslation(page: string): string {
  return page.replace(NOT_LANGUAGE, '$& translate="no"')
}
