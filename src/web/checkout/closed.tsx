import { mayStillBePaid } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { isOpened } from '../../domain/payment/requests.ts'
import type { MessageKey } from '../messages/translate.ts'
import type { Words } from '../messages/words.ts'
import type { Checkout, View } from './checkout.ts'
import { Notice, ShopLink, type Shown } from './parts.tsx'

/** For a payment under review, whose money may have come. */
export function Checking({ checkout, words }: Shown) {
  const { t } = words
  return (
    <>
      <h1>{t('checking.heading')}</h1>
      <p role="status" class="lead">
        {t('checking.safe')}
      </p>
      <p>{checkingSentence(checkout, words)}</p>
      <p class="quiet-text">{t('progress.leave')}</p>
    </>
  )
}

function checkingSentence({ payment, merchantName: merchant }: Checkout, { t }: Words): string {
  if (payment.parkReason === 'partner_hold') return t('checking.partner_hold')
  if (payment.parkReason === 'underpaid') return t('checking.underpaid', { merchant })
  if (payment.parkReason === 'wrong_asset') return t('checking.wrong_asset')
  return t('checking.other')
}

const HEADINGS = {
  expired: 'expired.heading',
  canceled: 'canceled.heading',
  failed: 'failed.heading',
  refunded: 'refunded.heading',
} as const satisfies Record<string, MessageKey>

/** The payment has ended as expired, canceled, failed or refunded. */
export function Closed({ checkout, words, view }: Shown & { view: Extract<View, { page: 'closed' }> }) {
  const { t } = words
  const merchant = checkout.merchantName
  const mayHavePaid = checkout.attempts.some((attempt) => mayStillBePaid(attempt.status))
  const neverPaid = !mayHavePaid && (view.as === 'expired' || view.as === 'canceled')
  return (
    <>
      <h1>{t(HEADINGS[view.as])}</h1>
      <p role="status" class="lead">
        {view.as === 'canceled' ? t('canceled.text', { merchant }) : t(`${view.as}.text`)}
      </p>
      {neverPaid && <p>{t('closed.not_charged')}</p>}
      {mayHavePaid && <Notice kind="info">{t('closed.unfinished')}</Notice>}
      {view.as !== 'refunded' && <p>{t('closed.again', { merchant })}</p>}
      <ShopLink href={checkout.payment.cancelUrl} checkout={checkout} words={words} />
    </>
  )
}

/** The payment is open, but no further order may be opened for it. */
export function NoMoreTries({ checkout, words, view }: Shown & { view: Extract<View, { page: 'no_more_tries' }> }) {
  const { t } = words
  const { goOn } = view
  return (
    <>
      <h1>{t('tries.heading')}</h1>
      <p role="status" class="lead">
        {t('tries.text')}
      </p>
      <Notice kind="info">{t('tries.safe')}</Notice>
      {goOn === null ? (
        <p>{t('closed.again', { merchant: checkout.merchantName })}</p>
      ) : (
        <a class="button primary" href={goOnPath(checkout.path, goOn)}>
          {t('pick.keep')}
        </a>
      )}
      <ShopLink href={checkout.payment.cancelUrl} checkout={checkout} words={words} />
    </>
  )
}

/** The checkout shows an order that is open; one that is still being opened must be asked for again. */
function goOnPath(path: string, attempt: Attempt): string {
  return isOpened(attempt) ? path : `${path}?method=${attempt.provider}.${attempt.method}`
}
