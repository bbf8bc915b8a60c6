import type { LinkStatus, PaymentLink } from '../../domain/link/link.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import type { Offer } from '../../domain/offers.ts'
import { returnUrl } from '../../domain/payment/new-payment.ts'
import type { Platform } from '../../domain/platform.ts'
import type { Shop } from '../checkout/checkout.ts'
import { webAddress } from '../checkout/shown.tsx'
import { Aside } from '../kit/aside.tsx'
import { FillButton, OutlineLink } from '../kit/button.tsx'
import { renderBuyerPage, Sheet } from '../kit/buyer-page.tsx'
import { Fact, Facts } from '../kit/facts.tsx'
import { Field } from '../kit/field.tsx'
import { PostForm } from '../kit/form.tsx'
import { Head } from '../kit/head.tsx'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Note } from '../kit/note.tsx'
import { Panel, Sum } from '../kit/panel.tsx'
import type { Words } from '../messages/words.ts'

export type LinkView = {
  readonly platform: Platform
  readonly link: PaymentLink
  readonly status: LinkStatus
  readonly shop: Shop
  /** The offers that are likely to be possible for the buyer. */
  readonly offers: readonly Offer[]
  readonly url: string
  readonly path: string
  /** Identifies one press of Continue, so that sending the form again does not create a second payment. */
  readonly press: string
  readonly amount: string
  readonly reference: string | null
  readonly wrong: WrongAmount | null
  /** The limits of the buyer's amount; null if the amount is fixed, or while there are no rates. */
  readonly bounds: { readonly minimum: Money; readonly maximum: Money } | null
}

/** Why the amount is wrong, with the limit that it violates, or with one of the two ways to read it. */
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
  return renderBuyerPage({
    platform: view.platform,
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
      <Sheet tone="brand" inert={as === 'preview'} panel={<LinkPanel view={view} words={words} />}>
        {view.status === 'active' ? (
          <Pay view={view} words={words} />
        ) : (
          <Closed link={link} status={view.status} words={words} />
        )}
      </Sheet>
    ),
  })
}

type Shown = { readonly view: LinkView; readonly words: Words }

function LinkPanel({ view, words }: Shown) {
  return (
    <Panel shop={view.shop} words={words} sum={view.status === 'active' && <LinkSum view={view} words={words} />}>
      <Details view={view} words={words} />
    </Panel>
  )
}

function LinkSum({ view, words }: Shown) {
  const { t } = words
  const { amount } = view.link.price
  if (amount !== null) return <Sum label={t('sum.pay')} amount={amount} words={words} />
  return (
    <p class="sum">
      <span class="label">{t('sum.pay')}</span> <span class="dim">{t('link.you_decide')}</span>
    </p>
  )
}

function Details({ view, words }: Shown) {
  const { t } = words
  const { link, reference } = view
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
      <PostForm
        action={path}
        fields={{ press, ...(reference !== null && { reference }) }}
        busy={t('link.busy')}
        look="form"
      >
        {link.price.amount === null && <AmountField view={view} words={words} />}
        {offers.length > 0 ? <Ways offers={offers} words={words} /> : <FillButton>{t('link.continue')}</FillButton>}
      </PostForm>
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

function AmountField({ view, words }: Shown) {
  const { wrong, amount, link, bounds } = view
  const currency = words.currency(link.price.currency)
  return (
    <Field
      name="amount"
      label={words.t('link.amount', { currency })}
      hint={
        bounds === null
          ? undefined
          : words.t('link.bounds', { least: words.money(bounds.minimum), most: words.money(bounds.maximum) })
      }
      errors={wrong === null ? {} : { amount: errorText(wrong, words, currency) }}
      errorRole="alert"
    >
      {(attributes) => (
        <input {...attributes} inputMode="decimal" autoComplete="off" required maxLength={40} value={amount} />
      )}
    </Field>
  )
}

function errorText({ why, amount }: WrongAmount, { t, money }: Words, currency: string): string {
  if (why === 'format') return t('link.wrong.format', { currency })
  if (why === 'ambiguous') return t('link.wrong.ambiguous', { amount: money(amount), plain: formatAmount(amount) })
  return t(`link.wrong.${why}`, { limit: money(amount) })
}

type InactiveStatus = Exclude<LinkStatus, 'active'>

const CLOSED_ICONS: Readonly<Record<InactiveStatus, IconName>> = {
  paused: 'clock',
  sold_out: 'check',
  expired: 'clock',
  stopped: 'shield',
}

/** Shows the owner's message, except for a link that the platform stopped. */
function Closed({ link, status, words }: { link: PaymentLink; status: InactiveStatus; words: Words }) {
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
