import type { OpenedAttempt } from '../../../domain/payment/requests.ts'
import { Amount } from '../../kit/amount.tsx'
import { FillLink, OutlineLink, QuietLink } from '../../kit/button.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Head } from '../../kit/head.tsx'
import { Rail } from '../../kit/rail.tsx'
import type { Words } from '../../messages/words.ts'
import { type Amounts, getAmounts } from '../amounts.ts'
import { pickLink } from '../checkout.ts'
import { ContinueOnPhone } from '../phone.tsx'
import { getPartner, type Shown, type ShownView } from '../shown.tsx'

/**
 * The page of an order that is open at the partner. It has no filled button, because the next step is at the partner,
 * unless a part of the price is missing.
 */
export function Finish({ checkout, words, view: { attempt } }: ShownView<'finish'>) {
  const { t } = words
  const partner = getPartner(checkout, attempt).name
  const { short } = getAmounts(checkout)
  const amount = words.money(short?.missing ?? attempt.asked)
  return (
    <>
      <Head icon="out" title={t('finish.heading', { partner })} lead={t('finish.lead', { partner, amount })} live />
      {short !== null && <ShortFacts short={short} words={words} />}
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
      {short === null ? (
        <>
          <OutlineLink href={attempt.redirectUrl} icon="out">
            {t('finish.again', { partner })}
          </OutlineLink>
          <OtherWay checkout={checkout} words={words} />
        </>
      ) : (
        <FillLink href={attempt.redirectUrl} icon="arrow">
          {t('finish.rest', { partner, amount })}
        </FillLink>
      )}
      <ContinueOnPhone checkout={checkout} words={words} />
    </>
  )
}

/** The part of the price that has arrived, and the missing one. */
export function ShortFacts({ short, words }: { short: NonNullable<Amounts['short']>; words: Words }) {
  return (
    <Facts>
      <Fact name={words.t('checking.received')}>
        <Amount money={short.received} words={words} />
      </Fact>
      <Fact name={words.t('checking.missing')}>
        <b>
          <Amount money={short.missing} words={words} />
        </b>
      </Fact>
    </Facts>
  )
}

export function OtherWay({ checkout, words }: Shown) {
  if (checkout.offered.offers.length < 2) return null
  return <QuietLink {...pickLink(checkout)}>{words.t('confirm.other')}</QuietLink>
}

export type HandedOver = Pick<OpenedAttempt, 'provider' | 'redirectUrl'>

/** The page that redirects to the partner. The button is for browsers that do not redirect. */
export function Handoff({ checkout, words, order }: Shown & { order: HandedOver }) {
  const { t } = words
  const partner = getPartner(checkout, order).name
  return (
    <>
      <Head icon="out" title={t('handoff.heading', { partner })} lead={t('handoff.lead')} busy />
      <FillLink href={order.redirectUrl} icon="arrow">
        {t('handoff.button', { partner })}
      </FillLink>
    </>
  )
}
