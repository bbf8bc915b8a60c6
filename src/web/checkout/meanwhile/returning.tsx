import { Head, Note, OutlineLink, QuietLink } from '../../look/parts.tsx'
import { Rail } from '../../look/rail.tsx'
import { pickLink } from '../checkout.ts'
import { partnerOf, type ShownView } from '../shown.tsx'

/**
 * The buyer is back from the partner, whose word we do not have yet. Nothing here looks like paying again: no button at
 * all at first, and then one that only leads back to the order that is open.
 */
export function Returning({ checkout, words, view }: ShownView<'returning'>) {
  const { t } = words
  const { attempt, since, slow } = view
  const partner = partnerOf(checkout, attempt).name
  return (
    <>
      <Head
        icon="clock"
        title={t(slow ? 'returning.slow.heading' : 'returning.heading', { partner })}
        lead={t(slow ? 'returning.slow.lead' : 'returning.lead')}
        live
        busy
      />
      <Rail
        label={t('rail.where')}
        words={words}
        stops={[
          { state: 'past', name: t('returning.back', { partner }), time: { at: since, said: 'at' } },
          {
            state: 'now',
            name: t('returning.confirms', { partner }),
            ...(slow && { time: { at: since, said: 'since' } }),
            why: t('returning.wait'),
          },
          { state: 'todo', name: t('progress.sent', { merchant: checkout.shop.name }) },
        ]}
      />
      {slow ? (
        <>
          <OutlineLink href={attempt.redirectUrl} icon="out">
            {t('returning.check', { partner })}
          </OutlineLink>
          <QuietLink {...pickLink(checkout)}>{t('returning.not_approved')}</QuietLink>
        </>
      ) : (
        <Note tone="quiet" icon="link">
          {t('returning.close')}
        </Note>
      )}
    </>
  )
}
