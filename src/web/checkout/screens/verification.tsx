import { Aside } from '../../kit/aside.tsx'
import { FillLink } from '../../kit/button.tsx'
import { Head } from '../../kit/head.tsx'
import { Rail } from '../../kit/rail.tsx'
import { Time } from '../../kit/time.tsx'
import { ContinueOnPhone } from '../phone.tsx'
import { getPartner, type ShownView } from '../shown.tsx'
import { OtherWay } from './finish.tsx'

/** The page shown while the partner checks the buyer's identity. The payment stays open during the check. */
export function Verification({ checkout, words, view: { attempt } }: ShownView<'verification'>) {
  const { t } = words
  const partner = getPartner(checkout, attempt).name
  return (
    <>
      <Head
        icon="shield"
        title={t('verification.heading')}
        lead={
          <>
            {t('verification.lead', { partner })}{' '}
            {words.rich('verification.until', {
              time: <Time at={checkout.payment.expiresAt} style="day" words={words} />,
            })}
          </>
        }
        live
      />
      <Rail
        label={t('confirm.next')}
        words={words}
        stops={[
          { state: 'now', name: t('verification.finish', { partner }), why: t('verification.finish.why') },
          { state: 'todo', name: t('verification.goes_on'), why: t('verification.goes_on.why') },
          { state: 'todo', name: t('plan.receipt'), why: t('plan.receipt.why') },
        ]}
      />
      <FillLink href={attempt.redirectUrl} icon="arrow">
        {t('verification.continue', { partner })}
      </FillLink>
      <Aside icon="shield">{t('verification.private', { partner })}</Aside>
      <OtherWay checkout={checkout} words={words} />
      <ContinueOnPhone checkout={checkout} words={words} />
    </>
  )
}
