import type { ComponentChildren } from 'preact'
import type { Offer } from '../../domain/offers.ts'
import type { Words } from '../messages/words.ts'
import { openedAttempt, type View } from './checkout.ts'
import { CountryChooser, DeclinedNotice, type Shown } from './parts.tsx'

/** What a buyer should know before the partner's page opens. */
export function Confirm({ checkout, words, view }: Shown & { view: Extract<View, { page: 'confirm' }> }) {
  const { t } = words
  const { offer } = view
  const others = checkout.offered.offers.length > 1 || openedAttempt(checkout.attempts) !== null
  return (
    <>
      <h1>{t(`confirm.heading.${offer.method}`)}</h1>
      {view.declined !== null && <DeclinedNotice failure={view.declined} words={words} />}
      {offer.chargeCurrency !== checkout.payment.amount.currency && (
        <p class="charge">{chargeSentence(offer, words)}</p>
      )}
      <h2>{t('confirm.next')}</h2>
      <Facts checkout={checkout} words={words} offer={offer} />
      <form method="post" action={`${checkout.path}/continue`} data-busy={t('confirm.opening')}>
        <input type="hidden" name="provider" value={offer.provider} />
        <input type="hidden" name="method" value={offer.method} />
        <button type="submit" class="button primary">
          {t('confirm.continue')}
        </button>
      </form>
      {others && (
        <a class="button quiet" href={`${checkout.path}?step=pick`}>
          {t('confirm.other')}
        </a>
      )}
      <CountryChooser checkout={checkout} words={words} />
    </>
  )
}

function Facts({ checkout, words, offer }: Shown & { offer: Offer }) {
  const { t } = words
  const { p50, p95 } = offer.estimatedSeconds
  return (
    <dl class="facts">
      <Fact name={t('confirm.opens')}>{t(`confirm.opens.${offer.method}`)}</Fact>
      <Fact name={t('confirm.takes')}>
        {t('confirm.time', { usual: words.duration(p50), most: words.duration(p95) })}
      </Fact>
      {offer.identityCheck && <Fact name={t('confirm.first')}>{t('confirm.identity')}</Fact>}
      {offer.provider !== 'crypto' && (
        <Fact name={t('confirm.on_statement')}>{t('confirm.statement', { merchant: checkout.merchantName })}</Fact>
      )}
      <Fact name={t('confirm.afterwards')}>{t('confirm.return')}</Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function chargeSentence({ charge, chargeCurrency: currency }: Offer, words: Words): string {
  if (charge === null) return words.t('confirm.converted_later', { currency })
  return words.t('confirm.converted', { currency, amount: words.money(charge) })
}
