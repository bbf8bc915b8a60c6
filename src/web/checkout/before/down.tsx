import { Aside, Head } from '../../look/parts.tsx'
import { partnerOf, ShopLink, type ShownView } from '../shown.tsx'

/** The only way to pay works again soon: the page and its link wait for it. */
export function Down({ checkout, words, view }: ShownView<'down'>) {
  const { t } = words
  const { name: partner } = partnerOf(checkout, view.refusal)
  return (
    <>
      <Head icon="clock" title={t('down.heading', { partner })} lead={t('down.lead', { partner })} live />
      <Aside icon="link">{t('down.link')}</Aside>
      <ShopLink href={checkout.payment.cancelUrl} checkout={checkout} words={words} />
    </>
  )
}
