import type { IconName } from '../../look/icons.tsx'
import { FillLink, Head, Note, type Tone } from '../../look/parts.tsx'
import { Time } from '../../look/time.tsx'
import type { MessageKey } from '../../messages/translate.ts'
import type { Words } from '../../messages/words.ts'
import type { Checkout } from '../checkout.ts'
import { ShopLink, ShopMail, type Shown, type ShownView } from '../shown.tsx'
import { goOnPath, mayMoneyCome } from '../view.ts'

type As = ShownView<'closed'>['view']['as']

const LOOKS = {
  expired: { icon: 'clock', heading: 'expired.heading', tone: 'quiet' },
  canceled: { icon: 'close', heading: 'canceled.heading', tone: 'quiet' },
  failed: { icon: 'warning', heading: 'failed.heading', tone: 'problem' },
  refunded: { icon: 'back', heading: 'refunded.heading', tone: 'quiet' },
} as const satisfies Record<As, { icon: IconName; heading: MessageKey; tone: Tone }>

export function toneOfClosed(as: As): Tone {
  return LOOKS[as].tone
}

/**
 * The payment has ended without reaching the shop. While money may still come of it, the page neither says that nothing
 * was charged nor sends the buyer to pay again.
 */
export function Closed({ checkout, words, view: { as } }: ShownView<'closed'>) {
  const { t } = words
  const { payment, shop } = checkout
  const mayCome = mayMoneyCome(checkout)
  const { icon, heading } = LOOKS[as]
  return (
    <>
      <Head icon={icon} title={t(heading)} lead={<Lead checkout={checkout} words={words} as={as} />} live />
      {mayCome && (
        <Note tone="wait" icon="help" strong={t('closed.last_minute')}>
          {t('closed.late_counts')}
        </Note>
      )}
      <ShopLink href={payment.cancelUrl} checkout={checkout} words={words} filled />
      {!mayCome && as !== 'refunded' && (
        <p class="after">
          {t('closed.again', { merchant: shop.name })} <ShopMail checkout={checkout} />
        </p>
      )}
    </>
  )
}

function Lead({ checkout, words, as }: Shown & { as: As }) {
  const { t } = words
  if (as !== 'expired') return <>{leadOf(checkout, words, as)}</>
  return (
    <>
      {!mayMoneyCome(checkout) && t('closed.not_charged')}{' '}
      {words.rich('expired.until', { time: <Time at={checkout.payment.expiresAt} style="day" words={words} /> })}
    </>
  )
}

function leadOf(checkout: Checkout, { t }: Words, as: Exclude<As, 'expired'>): string {
  if (as === 'refunded') return t('refunded.text')
  if (mayMoneyCome(checkout)) return t('closed.order_open')
  return as === 'canceled' ? t('canceled.text') : t('failed.text')
}

/** The payment is open, but no further order may be opened for it. */
export function NoMoreTries({ checkout, words, view: { goOn } }: ShownView<'no_more_tries'>) {
  const { t } = words
  return (
    <>
      <Head icon="warning" title={t('tries.heading')} lead={t('tries.text')} live />
      <Note tone="wait" icon="help" strong={t('tries.paid')}>
        {t('tries.safe')}
      </Note>
      {goOn === null ? (
        <p class="after">{t('closed.again', { merchant: checkout.shop.name })}</p>
      ) : (
        <FillLink href={goOnPath(checkout.path, goOn)} icon="arrow">
          {t('pick.keep')}
        </FillLink>
      )}
      <ShopLink href={checkout.payment.cancelUrl} checkout={checkout} words={words} />
    </>
  )
}
