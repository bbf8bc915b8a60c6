import type { Offer } from '../../../domain/offers.ts'
import { Aside } from '../../kit/aside.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { findOpenedAttempt, wayLink } from '../checkout.ts'
import { getPartner, methodName, type Shown, type ShownView } from '../shown.tsx'
import { CountryLine } from './country.tsx'
import { DownLines, RefusedNote, WhyNot } from './refused.tsx'
import { UnpaidNote } from './unpaid.tsx'

/** The number of offers that are shown; the others are folded, so that the buyer sees the best ones. */
const OPEN_WAYS = 2
/** A fold for a single offer would save no space. */
const FOLD_FROM = OPEN_WAYS + 2

export function Pick({ checkout, words, view }: ShownView<'pick'>) {
  const { t } = words
  const { offers } = checkout.offered
  const shown = offers.length < FOLD_FROM ? offers.length : OPEN_WAYS
  const isConverted = offers.some(({ chargeCurrency }) => chargeCurrency !== checkout.payment.amount.currency)
  return (
    <>
      <PickNote checkout={checkout} words={words} view={view} />
      <h1>{t('pick.heading')}</h1>
      <div class="ways">
        <Ways offers={offers.slice(0, shown)} checkout={checkout} words={words} />
        {shown < offers.length && (
          <details>
            <summary>
              {t('pick.more', { count: String(offers.length - shown) })} <Icon name="down" />
            </summary>
            <Ways offers={offers.slice(shown)} checkout={checkout} words={words} />
          </details>
        )}
      </div>
      <DownLines checkout={checkout} words={words} />
      {isConverted && <Aside icon="clock">{t('pick.about')}</Aside>}
      {(isConverted || view.why !== null) && <WhyNot checkout={checkout} words={words} />}
      <CountryLine checkout={checkout} words={words} />
    </>
  )
}

/** Shows one note at most. An open order matters more than an unpaid one, and that more than a refused offer. */
function PickNote({ checkout, words, view }: ShownView<'pick'>) {
  const { t } = words
  const opened = findOpenedAttempt(checkout.attempts)
  if (opened !== null) {
    const { name: partner } = getPartner(checkout, opened)
    return (
      <Note tone="wait" icon="twice" strong={t('pick.open_at', { partner })}>
        {t('pick.open_closes')} <a href={checkout.path}>{t('pick.keep')}</a>
      </Note>
    )
  }
  if (view.unpaid !== null) return <UnpaidNote checkout={checkout} words={words} attempt={view.unpaid} />
  return <RefusedNote checkout={checkout} words={words} view={view} />
}

function Ways({ offers, checkout, words }: Shown & { offers: readonly Offer[] }) {
  return (
    <ul>
      {offers.map((offer) => (
        <li key={`${offer.provider}.${offer.method}`}>
          <Way offer={offer} checkout={checkout} words={words} />
        </li>
      ))}
    </ul>
  )
}

function Way({ offer, checkout, words }: Shown & { offer: Offer }) {
  const { t } = words
  const about = words.about(offer.estimatedSeconds.p50)
  const isConverted = offer.chargeCurrency !== checkout.payment.amount.currency
  const hint = isConverted
    ? t('pick.hint.converted', { currency: words.currency(offer.chargeCurrency), about })
    : t(`pick.hint.${offer.method}`, { about })
  return (
    <a class="way" {...wayLink(checkout, offer)}>
      <span class="pin">
        <Icon name={offer.method} />
      </span>
      <span class="pair">
        <span class="name">
          {methodName(offer, words)} {isFastest(offer, checkout) && <b class="tag">{t('pick.fastest')}</b>}
        </span>{' '}
        {offer.charge !== null && <span class="cost">{words.money(offer.charge)}</span>}
      </span>
      <span class="hint">{hint}</span>
      <Icon name="next" points />
    </a>
  )
}

/** True for the first of the offers with the shortest usual time, if there are several offers. */
function isFastest(offer: Offer, { offered: { offers } }: Shown['checkout']): boolean {
  const soonest = Math.min(...offers.map(({ estimatedSeconds }) => estimatedSeconds.p50))
  return offers.length > 1 && offers.find(({ estimatedSeconds }) => estimatedSeconds.p50 === soonest) === offer
}
