import { FillLink, QuietLink } from '../../kit/button.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Head } from '../../kit/head.tsx'
import { Rail } from '../../kit/rail.tsx'
import { pickLink } from '../checkout.ts'
import { getPartner, type ShownView } from '../shown.tsx'

export function OpenElsewhere({ checkout, words, view }: ShownView<'open_elsewhere'>) {
  const { t } = words
  const { attempt, instead } = view
  const partner = getPartner(checkout, attempt).name
  return (
    <>
      <Head icon="twice" title={t('elsewhere.heading', { partner })} lead={t('elsewhere.lead')} live />
      <Rail
        label={t('rail.where')}
        words={words}
        stops={[
          {
            state: 'now',
            name: t('elsewhere.open', { partner }),
            time: { at: attempt.createdAt, said: 'since' },
            why: t('elsewhere.nothing'),
          },
          { state: 'todo', name: t('finish.confirms', { partner }) },
          { state: 'todo', name: t('finish.receipt') },
        ]}
      />
      <FillLink href={attempt.intentUri === null ? attempt.redirectUrl : checkout.path} icon="arrow">
        {t('elsewhere.continue', { partner, amount: words.money(attempt.asked) })}
      </FillLink>
      <PostButton
        action={`${checkout.path}/continue`}
        fields={{ provider: instead.provider, method: instead.method }}
        icon={instead.method}
        busy={t('confirm.opening')}
      >
        {t(`close_for.${instead.method}`)}
      </PostButton>
      <QuietLink {...pickLink(checkout)}>{t('declined.all')}</QuietLink>
    </>
  )
}
