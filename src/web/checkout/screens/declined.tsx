import { QuietLink } from '../../kit/button.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Head } from '../../kit/head.tsx'
import { pickLink } from '../checkout.ts'
import { getPartner, type ShownView } from '../shown.tsx'

/** The page after a partner declined an attempt. The filled button is the next best offer, else the same one again. */
export function Declined({ checkout, words, view }: ShownView<'declined'>) {
  const { t } = words
  const { attempt, again, instead } = view
  const partner = getPartner(checkout, attempt).name
  const failure = attempt.failureCode ?? 'declined'
  const action = `${checkout.path}/continue`
  const next = instead ?? again
  return (
    <>
      <Head
        icon="close"
        title={t(`declined.heading.${failure}`, { partner })}
        lead={t(`declined.lead.${failure}`, { partner })}
        live
      />
      {next !== null && (
        <PostButton
          action={action}
          fields={{ provider: next.provider, method: next.method }}
          icon={next.method}
          look="button fill"
          busy={t('confirm.opening')}
        >
          {instead === null ? t('declined.again', { partner }) : insteadText()}
        </PostButton>
      )}
      {again !== null && instead !== null && (
        <PostButton
          action={action}
          fields={{ provider: again.provider, method: again.method }}
          icon={again.method}
          busy={t('confirm.opening')}
        >
          {t('declined.again', { partner })}
        </PostButton>
      )}
      <QuietLink {...pickLink(checkout)}>{t('declined.all')}</QuietLink>
    </>
  )

  function insteadText(): string {
    if (instead === null) return ''
    const isFixed = instead.charge !== null && instead.chargeCurrency === checkout.payment.amount.currency
    return [t(`instead.${instead.method}`), ...(isFixed && instead.charge ? [words.money(instead.charge)] : [])].join(
      ' · ',
    )
  }
}
