import { CopyField } from '../kit/copy.tsx'
import { Fold } from '../kit/fold.tsx'
import { QrImage } from '../kit/qr.tsx'
import type { Shown } from './shown.tsx'

export function ContinueOnPhone({ checkout, words }: Shown) {
  const { t } = words
  const { payment, shop, url, path, device } = checkout
  if (device !== 'desktop') return null
  return (
    <Fold icon="phone" title={t('phone.title')}>
      <p>{t('phone.text')}</p>
      <QrImage
        src={`${path}/code.svg`}
        name={t('phone.code', { amount: words.money(payment.amount), merchant: shop.name })}
      />
      <CopyField label={t('phone.link')} value={url} words={words} />
    </Fold>
  )
}
