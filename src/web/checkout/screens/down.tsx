import { Aside } from '../../kit/aside.tsx'
import { Head } from '../../kit/head.tsx'
import { getPartner, type ShownView } from '../shown.tsx'

/** The page shown while every usable partner is down. It continues automatically when a partner is back. */
export function Down({ checkout, words, view }: ShownView<'down'>) {
  const { t } = words
  const { name: partner } = getPartner(checkout, view.refusal)
  return (
    <>
      <Head icon="clock" title={t('down.heading', { partner })} lead={t('down.lead', { partner })} live />
      <Aside icon="link">{t('down.link')}</Aside>
    </>
  )
}
