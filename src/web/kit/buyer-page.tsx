import type { ComponentChildren } from 'preact'
import type { Platform } from '../../domain/platform.ts'
import { ASSETS, brandSheet } from '../assets.ts'
import type { Words } from '../messages/words.ts'
import { FillLink } from './button.tsx'
import type { Hex } from './color.ts'
import { renderDocument } from './document.tsx'
import { Head } from './head.tsx'
import type { IconName } from './icon.tsx'
import { type LanguageChange, LanguageMenu } from './languages.tsx'
import { PlatformLinks } from './platform-links.tsx'
import { TestBar } from './test-bar.tsx'
import type { Tone } from './tone.ts'
import { Mark } from './wordmark.tsx'

export type BuyerPage = {
  readonly platform: Platform
  readonly words: Words
  readonly title: string
  readonly testMode: boolean
  /** Developers' tools, in test mode. */
  readonly tools?: ComponentChildren
  /** The merchant's color; null for the platform's color. */
  readonly brand: Hex | null
  /** Without JavaScript, the page loads again after `seconds`, from `url` or from its own URL. Absent: never. */
  readonly refresh?: { readonly seconds: number; readonly url: string | undefined }
  /** Opens this URL at once: the hand-off to a partner. */
  readonly goTo?: string
  /** The preview of the page in a chat. A page with a preview is not indexed by search engines. */
  readonly card?: { readonly title: string; readonly text: string; readonly url: string }
  readonly foot?: ComponentChildren
  readonly languages?: LanguageChange
  /** The path of the page outside the merchant's frame. Present: the page is in a frame, and links open outside it. */
  readonly wholePage?: string
  readonly children: ComponentChildren
}

/** Renders a page in the merchant's colors and the buyer's language: the checkout, a receipt, a payment link. */
export function renderBuyerPage(page: BuyerPage): string {
  const { platform, words, title, testMode, tools, brand, foot, languages, wholePage, children } = page
  const { t, locale } = words
  const styles = [
    ASSETS.style,
    ...(brand === null ? [] : [brandSheet(brand)]),
    ...(tools === undefined ? [] : [ASSETS.sandboxStyle]),
  ]
  return renderDocument({
    platform,
    title,
    locale,
    styles,
    script: ASSETS.script,
    // It writes the times in the buyer's time zone before the first paint, so the layout does not shift.
    blocking: true,
    head: <HeadElements page={page} />,
    children: (
      <>
        <a class="skip" href="#main" target={wholePage === undefined ? undefined : '_self'}>
          {t('page.skip')}
        </a>
        {testMode && (
          <TestBar label={t('page.test_mode')} tag={t('page.test')} text={t('page.test.text')}>
            {tools}
          </TestBar>
        )}
        {children}
        <footer class="foot">
          <p>
            <Mark platform={platform} /> <span>{t('page.footer', { platform: platform.name })}</span>
          </p>
          <ul>
            <PlatformLinks platform={platform} words={words} />
          </ul>
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
      </>
    ),
  })
}

type SheetProps = {
  readonly tone: Tone
  readonly panel?: ComponentChildren
  /** True for a preview, whose controls do nothing. */
  readonly inert?: boolean
  /** The attributes that the page's script reads. */
  readonly data?: Readonly<Record<`data-${string}`, string | number | undefined>>
  readonly children: ComponentChildren
}

/** The content of a buyer's page: the panel, and the view next to it. */
export function Sheet({ tone, panel, inert, data = {}, children }: SheetProps) {
  return (
    <div class={panel === undefined ? 'sheet alone' : 'sheet'} inert={inert}>
      {panel}
      <main id="main" class={`view ${tone}`} tabIndex={-1} {...data}>
        {children}
      </main>
    </div>
  )
}

export type BuyerProblem = {
  readonly platform: Platform
  readonly words: Words
  readonly tone: Tone
  readonly icon: IconName
  readonly title: string
  readonly text: string
  /** A link that may help; null if there is none. */
  readonly next: { readonly href: string; readonly text: string } | null
}

export function renderBuyerProblem({ platform, words, tone, icon, title, text, next }: BuyerProblem): string {
  return renderBuyerPage({
    platform,
    words,
    title,
    testMode: false,
    brand: null,
    children: (
      <Sheet tone={tone}>
        <div role="alert">
          <Head icon={icon} title={title} lead={text} />
        </div>
        {next !== null && (
          <FillLink href={next.href} icon="arrow">
            {next.text}
          </FillLink>
        )}
      </Sheet>
    ),
  })
}

function HeadElements({ page: { refresh, goTo, card, wholePage } }: { page: BuyerPage }) {
  return (
    <>
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
      {wholePage !== undefined && <script src={ASSETS.frameScript} type="module" />}
    </>
  )
}

function Card({ title, text, url }: NonNullable<BuyerPage['card']>) {
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
