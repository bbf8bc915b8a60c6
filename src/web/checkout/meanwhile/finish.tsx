import type { OpenedAttempt } from '../../../domain/payment/requests.ts'
import { FillLink, Head, OutlineLink, QuietLink } from '../../look/parts.tsx'
import { Rail } from '../../look/rail.tsx'
import { pickLink } from '../checkout.ts'
import { ContinueOnPhone } from '../phone.tsx'
import { partnerOf, type Shown, type ShownView } from '../shown.tsx'

/** For a buyer whose order is open at the partner. No filled button: the next step is over there. */
export function Finish({ checkout, words, view: { attempt } }: ShownView<'finish'>) {
  const { t } = words
  const partner = partnerOf(checkout, attempt).name
  const amount = words.money(attempt.asked)
  return (
    <>
      <Head icon="out" title={t('finish.heading', { partner })} lead={t('finish.lead', { partner, amount })} live />
      <Rail
        label={t('rail.where')}
        words={words}
        stops={[
          {
            state: 'now',
            name: t('finish.waiting', { partner }),
            time: { at: attempt.createdAt, said: 'since' },
            why: t('finish.nothing'),
          },
          { state: 'todo', name: t('finish.confirms', { partner }), why: t('finish.confirms.why') },
          { state: 'todo', name: t('finish.receipt') },
        ]}
      />
      <OutlineLink href={attempt.redirectUrl} icon="out">
        {t('finish.again', { partner })}
      </OutlineLink>
      <OtherWay checkout={checkout} words={words} />
      <ContinueOnPhone checkout={checkout} words={words} />
    </>
  )
}

/** Another way to pay, where there is one. */
export function OtherWay({ checkout, words }: Shown) {
  if (checkout.offered.offers.length < 2) return null
  return <QuietLink {...pickLink(checkout)}>{words.t('confirm.other')}</QuietLink>
}

/** An order that is paid at the partner's page. */
export type HandedOver = Pick<OpenedAttempt, 'provider' | 'redirectUrl'>

/** Leads to the partner: the page goes there by itself; the button is for browsers that do not. */
export function Handoff({ checkout, words, order }: Shown & { order: HandedOver }) {
  const { t } = words
  const partner = partnerOf(checkout, order).name
  return (
    <>
      <Head icon="out" title={t('handoff.heading', { partner })} lead={t('handoff.lead')} busy />
      <FillLink href={order.redirectUrl} icon="arrow">
        {t('handoff.button', { partner })}
      </FillLink>
    </>
  )
}
