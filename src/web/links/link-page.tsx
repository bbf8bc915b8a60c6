import type { LinkStatus, PaymentLink } from '../../domain/link/link.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import type { Offer } from '../../domain/offers.ts'
import { returnUrl } from '../../domain/payment/new-payment.ts'
import type { Shop } from '../checkout/checkout.ts'
import { amountLook, Logo, Question } from '../checkout/panel.tsx'
import { webAddress } from '../checkout/shown.tsx'
import { renderPage } from '../layout.tsx'
import { Icon, type IconName } from '../look/icons.tsx'
import { Aside, Fact, Facts, Head, Note, OutlineLink } from '../look/parts.tsx'
import type { Words } from '../messages/words.ts'

/** The data of the page of a payment link, from the database and the query of the URL. */
export type LinkView = {
  readonly link: PaymentLink
  readonly status: LinkStatus
  readonly shop: Shop
  /** The offers that are likely to be possible for the buyer. */
  readonly offers: readonly Offer[]
  readonly url: string
  readonly path: string
  /** Identifies one press of Continue, so that a form that is sent again makes no second payment. */
  readonly press: string
  readonly amount: string
  readonly reference: string | null
  readonly wrong: WrongAmount | null
  /** The limits of the buyer's amount; null if the amount is fixed, or while there are no rates. */
  readonly bounds: { readonly minimum: Money; readonly maximum: Money } | null
}

/** The error of the amount, with the limit that it violates, or one of the amounts as which it can be read. */
export type WrongAmount =
  | { readonly why: 'too_small' | 'too_large' | 'ambiguous'; readonly amount: Money }
  | { readonly why: 'format'; readonly amount: null }

/** Renders the page of a link. A preview is shown in a frame to the link's creator, and its controls are inert. */
export function renderLinkPage(view: LinkView, words: Words, as: 'page' | 'preview' = 'page'): string {
  const { link, shop, path, url } = view
  const { t } = words
  const { amount } = link.price
  const what = amount === null ? t('link.you_decide') : words.money(amount)
  const asks = amount !== null && view.status === 'active'
  return renderPage({
    words,
    title: asks ? t('title.pay', { amount: what, merchant: shop.name }) : `${link.title} · ${shop.name}`,
    testMode: !link.livemode && as === 'page',
    brand: shop.brand,
    card: { title: `${link.title}, ${what}`, text: t('link.og', { merchant: shop.name }), url },
    ...(as === 'page' && {
      languages: { action: `${path}/language`, at: path },
      foot: (
        <p>
          <a href={`${path}/report`}>{t('report.heading')}</a>
        </p>
      ),
    }),
    children: (
      <div class="sheet" inert={as === 'preview'}>
        <LinkPanel view={view} words={words} />
        <main id="main" class="card brand" tabIndex={-1}>
          {view.status === 'active' ? (
            <Pay view={view} words={words} />
          ) : (
            <Closed link={link} status={view.status} words={words} />
          )}
        </main>
      </div>
    ),
  })
}

type Shown = { readonly view: LinkView; readonly words: Words }

function LinkPanel({ view, words }: Shown) {
  const { t } = words
  const { link, shop, status } = view
  const { amount } = link.price
  return (
    <header class="panel">
      <p class="payee">
        <Logo shop={shop} />
        <span class="shop" dir="auto">
          {shop.name}
        </span>
      </p>
      {status === 'active' && (
        <p class="sum">
          <span class="label">{t('sum.pay')}</span>{' '}
          {amount === null ? (
            <span class="dim">{t('link.you_decide')}</span>
          ) : (
            <data class={amountLook(words.money(amount), false)} value={`${formatAmount(amount)} ${amount.currency}`}>
              {words.money(amount)}
            </data>
          )}
        </p>
      )}
      <details class="more">
        <summary>
          <span class="unseen">{t('panel.details')}</span>
          <Icon name="down" />
        </summary>
        <div class="more-in">
          <Details view={view} words={words} />
        </div>
      </details>
    </header>
  )
}

function Details({ view, words }: Shown) {
  const { t } = words
  const { link, reference, shop } = view
  const { min, max } = link.price
  const left = link.maxPayments === null ? null : Math.max(0, link.maxPayments - link.paymentsCount)
  return (
    <>
      {link.description !== null && (
        <p class="what">
          <bdi>{link.description}</bdi>
        </p>
      )}
      <Facts>
        {reference !== null && (
          <Fact name={t('panel.order')}>
            <bdi>{reference}</bdi>
          </Fact>
        )}
        {min !== null && <Fact name={t('link.least')}>{words.money(min)}</Fact>}
        {max !== null && <Fact name={t('link.most')}>{words.money(max)}</Fact>}
        {left !== null && (
          <Fact name={t('link.left')}>{t('link.left_of', { left: String(left), all: String(link.maxPayments) })}</Fact>
        )}
        {link.wallet !== null && (
          <Fact name={t('link.wallet')}>
            <bdi dir="ltr">{link.wallet}</bdi>
          </Fact>
        )}
      </Facts>
      <Question shop={shop} words={words} />
    </>
  )
}

function Pay({ view, words }: Shown) {
  const { t } = words
  const { link, offers, path, press, reference } = view
  return (
    <>
      <h1 dir="auto">{link.title}</h1>
      {link.anonymous && (
        <Note tone="wait" icon="warning">
          {t('link.unknown_maker')}
        </Note>
      )}
      <form class="link-page" method="post" action={path} data-busy={t('link.busy')}>
        <input type="hidden" name="press" value={press} />
        {reference !== null && <input type="hidden" name="reference" value={reference} />}
        {link.price.amount === null && <Amount view={view} words={words} />}
        {offers.length > 0 ? (
          <Ways offers={offers} words={words} />
        ) : (
          <p class="act">
            <button type="submit" class="button fill">
              <span>{t('link.continue')}</span>
              <Icon name="arrow" points />
            </button>
          </p>
        )}
      </form>
      <Aside icon="shield">{t('link.safe')}</Aside>
    </>
  )
}

function Ways({ offers, words }: Pick<LinkView, 'offers'> & { words: Words }) {
  const { t } = words
  return (
    <div class="ways">
      <ul aria-label={t('link.ways')}>
        {offers.map(({ provider, method, estimatedSeconds }) => (
          <li key={method}>
            <button type="submit" class="way" name="way" value={`${provider}.${method}`}>
              <span class="pin">
                <Icon name={method} />
              </span>
              <span class="name">{t(`method.${method}`)}</span>
              <span class="hint">{t(`pick.hint.${method}`, { about: words.about(estimatedSeconds.p50) })}</span>
              <Icon name="next" points />
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Amount({ view, words }: Shown) {
  const { t } = words
  const { wrong, amount, link, bounds } = view
  const described = [bounds !== null && 'bounds', wrong !== null && 'wrong'].filter(Boolean).join(' ')
  const currency = words.currency(link.price.currency)
  return (
    <p class="fields">
      <label>
        <span class="label">{t('link.amount', { currency })}</span>
        <input
          name="amount"
          inputMode="decimal"
          autoComplete="off"
          required
          maxLength={40}
          value={amount}
          aria-invalid={wrong === null ? undefined : 'true'}
          aria-describedby={described || undefined}
        />
      </label>
      {bounds !== null && (
        <span id="bounds" class="hint">
          {t('link.bounds', { least: words.money(bounds.minimum), most: words.money(bounds.maximum) })}
        </span>
      )}
      {wrong !== null && (
        <span id="wrong" class="wrong" role="alert">
          {errorText(wrong, words, currency)}
        </span>
      )}
    </p>
  )
}

function errorText({ why, amount }: WrongAmount, { t, money }: Words, currency: string): string {
  if (why === 'format') return t('link.wrong.format', { currency })
  if (why === 'ambiguous') return t('link.wrong.ambiguous', { amount: money(amount), plain: formatAmount(amount) })
  return t(`link.wrong.${why}`, { limit: money(amount) })
}

type Shut = Exclude<LinkStatus, 'active'>

const CLOSED_ICONS: Readonly<Record<Shut, IconName>> = {
  paused: 'clock',
  sold_out: 'check',
  expired: 'clock',
  stopped: 'shield',
}

/** Shows the owner's message, except for a link that Pinrail stopped. */
function Closed({ link, status, words }: { link: PaymentLink; status: Shut; words: Words }) {
  const { t } = words
  const own = status === 'stopped' ? null : link.inactiveMessage
  // There is no payment, so its id is empty.
  const back = status === 'stopped' ? null : webAddress(returnUrl(link.successUrl, ''))
  return (
    <>
      <Head icon={CLOSED_ICONS[status]} title={t(`link.${status}.heading`)} lead={own ?? t(`link.${status}.text`)} />
      {back !== null && (
        <OutlineLink href={back} icon="shop">
          {new URL(back).host}
        </OutlineLink>
      )}
    </>
  )
}
