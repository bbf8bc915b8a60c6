import { explorerUrl, type Payment } from '../../../domain/payment/payment-object.ts'
import { Head } from '../../kit/head.tsx'
import { Note } from '../../kit/note.tsx'
import { Rail, type Stop, type StopState } from '../../kit/rail.tsx'
import type { Words } from '../../messages/words.ts'
import { getAmounts } from '../amounts.ts'
import { type Checkout, findPaidAttempt } from '../checkout.ts'
import { getPartner, ShopLink, type ShownView } from '../shown.tsx'

/** The page after the buyer paid. The buyer does not have to do anything, so no control looks like paying. */
export function Progress({ checkout, words, view }: ShownView<'progress'>) {
  const { t } = words
  const { paid } = getAmounts(checkout)
  const stops: Stop[] =
    view.now === 'confirming'
      ? confirmingStops(checkout, words)
      : moneyStops(checkout, words, view.now === 'sending' ? 2 : 1)
  return (
    <>
      {view.delayed && (
        <Note tone="wait" icon="clock" strong={t('progress.delayed')} role="status">
          {t('progress.delayed.safe')}
        </Note>
      )}
      <Head
        icon="rail"
        title={t('progress.heading')}
        lead={
          paid === null || view.now === 'confirming'
            ? t('progress.lead.confirming', { partner: payingPartner(checkout) })
            : t('progress.lead', { partner: payingPartner(checkout), amount: words.money(paid) })
        }
        live
      />
      <Rail label={t('rail.where')} stops={stops} words={words} />
      <ShopLink href={checkout.payment.successUrl} checkout={checkout} words={words} />
    </>
  )
}

/** Returns the partner's name of the counted or paid attempt, else of the newest one. */
export function payingPartner(checkout: Checkout): string {
  const attempt = getAmounts(checkout).counted ?? findPaidAttempt(checkout) ?? checkout.attempts.at(-1)
  return attempt === undefined ? checkout.partners.wallet_app.name : getPartner(checkout, attempt).name
}

function confirmingStops(checkout: Checkout, { t }: Words): Stop[] {
  const partner = payingPartner(checkout)
  const since = checkout.attempts.at(-1)?.updatedAt ?? checkout.payment.updatedAt
  return [
    {
      state: 'now',
      name: t('returning.confirms', { partner }),
      time: { at: since, said: 'since' },
      why: t('returning.wait'),
    },
    { state: 'todo', name: t('progress.converted') },
    { state: 'todo', name: t('progress.sent', { merchant: checkout.shop.name }), why: t('progress.sent.why') },
  ]
}

/** Lists the stops paid, converted and sent. `now` is the index of the money's stop; 3 when the money has arrived. */
export function moneyStops(checkout: Checkout, words: Words, now: 1 | 2 | 3): Stop[] {
  const { t } = words
  const { payment } = checkout
  const { paid } = getAmounts(checkout)
  const stopState = (index: number): StopState => (index < now ? 'past' : index === now ? 'now' : 'todo')
  const amount = paid === null ? null : words.money(paid)
  return [
    {
      state: 'past',
      name: t('progress.paid'),
      ...timed(payment.paidAt, 'at'),
      ...(amount !== null && { why: t('progress.paid.why', { amount, partner: payingPartner(checkout) }) }),
    },
    {
      state: stopState(1),
      name: t(now === 1 ? 'progress.converting' : 'progress.converted'),
      ...(now === 1 && { ...timed(payment.paidAt, 'since'), why: t('progress.converting.why') }),
    },
    {
      state: stopState(2),
      name: t('progress.sent', { merchant: checkout.shop.name }),
      ...(now === 3 && timed(payment.succeededAt, 'at')),
      ...(now === 3 ? proof(payment, words) : { why: t('progress.sent.why') }),
    },
  ]
}

function timed(at: string | null, said: 'at' | 'since'): Pick<Stop, 'time'> {
  return at === null ? {} : { time: { at, said, style: 'seconds' } }
}

function proof(payment: Payment, { t }: Words): Pick<Stop, 'why'> {
  const explorer = explorerUrl(payment)
  return explorer === null ? {} : { why: <a href={explorer}>{t('done.proof')}</a> }
}
