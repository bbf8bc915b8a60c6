import { OutlineLink, QuietLink } from '../../kit/button.tsx'
import { Head } from '../../kit/head.tsx'
import { Note } from '../../kit/note.tsx'
import { Rail } from '../../kit/rail.tsx'
import { pickLink } from '../checkout.ts'
import { getPartner, type ShownView } from '../shown.tsx'

/**
 * The page of a buyer who is back before the partner has confirmed the order. No control looks like paying again: the
 * page first has no button, and later one that leads back to the open order.
 */
export function Returning({ checkout, words, view }: ShownView<'returning'>) {
  const { t } = words
  const { attempt, since, slow } = view
  const partner = getPartner(checkout, attempt).name
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
