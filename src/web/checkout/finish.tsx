import { formatUsdc } from '../../domain/money.ts'
import { transferLink } from '../../domain/settlement/deposit.ts'
import type { View } from './checkout.ts'
import { CopyField, Notice, Qr, type Shown, Spinner } from './parts.tsx'

/** For a buyer whose order is open at the partner: how to get back there, or to pay another way. */
export function Finish({ checkout, words, view }: Shown & { view: Extract<View, { page: 'finish' }> }) {
  const { t } = words
  return (
    <>
      <h1>{t(`finish.heading.${view.attempt.method}`)}</h1>
      <p role="status" class="waiting">
        <Spinner />
        {t('finish.text')}
      </p>
      <a class="button primary" href={view.attempt.redirectUrl}>
        {t('finish.reopen')}
      </a>
      <OtherMethod checkout={checkout} words={words} />
      <OtherDevice checkout={checkout} words={words} />
    </>
  )
}

/** UPI is paid from this page: a QR code, a link for the phone, and the partner's page. It asks for no UPI address. */
export function Upi({ checkout, words, view }: Shown & { view: Extract<View, { page: 'upi' }> }) {
  const { t } = words
  const amount = words.money(view.attempt.asked)
  return (
    <>
      <h1>{t('finish.heading.upi')}</h1>
      <p class="charge">
        <strong>{t('upi.amount', { amount })}</strong>
      </p>
      <p role="status" class="waiting">
        <Spinner />
        {t('upi.text')}
      </p>
      <div class="upi">
        <Qr text={view.intentUri} name={t('upi.qr', { amount, merchant: checkout.merchantName })} />
        {view.intentUri.startsWith('upi:') && (
          <a class="button upi-open" href={view.intentUri}>
            {t('upi.open')}
          </a>
        )}
      </div>
      <CopyField label={t('upi.link')} value={view.intentUri} words={words} />
      <a class="button quiet" href={view.attempt.redirectUrl}>
        {t('upi.page')}
      </a>
      <OtherMethod checkout={checkout} words={words} />
    </>
  )
}

/** USDC is paid to an address of this payment: a QR code, a link for wallets, and the facts as text for any other. */
export function Usdc({ checkout, words, view }: Shown & { view: Extract<View, { page: 'usdc' }> }) {
  const { t } = words
  const { micro, address, token } = view.transfer
  const link = transferLink(view.transfer)
  const amount = formatUsdc(micro)
  return (
    <>
      <h1>{t('finish.heading.usdc')}</h1>
      <p class="charge">
        <strong>{t('usdc.amount', { amount })}</strong>
      </p>
      <p role="status" class="waiting">
        <Spinner />
        {t('usdc.text')}
      </p>
      <div class="upi">
        <Qr text={link} name={t('usdc.qr', { amount, merchant: checkout.merchantName })} />
        <a class="button upi-open" href={link}>
          {t('usdc.open')}
        </a>
      </div>
      <CopyField label={t('usdc.address')} value={address} words={words} />
      <CopyField label={t('usdc.exact')} value={amount} words={words} />
      <Notice kind="info">{t('usdc.only', { token })}</Notice>
      <OtherMethod checkout={checkout} words={words} />
    </>
  )
}

export function Verification({ checkout, words, view }: Shown & { view: Extract<View, { page: 'verification' }> }) {
  const { t } = words
  return (
    <>
      <h1>{t('verification.heading')}</h1>
      <p role="status" class="waiting">
        <Spinner />
        {t('verification.text')}
      </p>
      <a class="button primary" href={view.attempt.redirectUrl}>
        {t('verification.reopen')}
      </a>
      <OtherMethod checkout={checkout} words={words} />
      <OtherDevice checkout={checkout} words={words} />
    </>
  )
}

function OtherMethod({ checkout, words }: Shown) {
  if (checkout.offered.offers.length < 2) return null
  return (
    <a class="button quiet" href={`${checkout.path}?step=pick`}>
      {words.t('confirm.other')}
    </a>
  )
}

function OtherDevice({ checkout, words }: Shown) {
  const { t } = words
  const { payment, merchantName: merchant, url } = checkout
  return (
    <details class="device">
      <summary>{t('finish.phone')}</summary>
      <p>{t('finish.phone_text')}</p>
      <Qr text={url} name={t('finish.qr', { amount: words.money(payment.amount), merchant })} />
      <CopyField label={t('finish.link')} value={url} words={words} />
    </details>
  )
}
