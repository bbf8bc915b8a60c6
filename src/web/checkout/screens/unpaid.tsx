import type { Attempt } from '../../../domain/payment/payment-object.ts'
import { Note } from '../../kit/note.tsx'
import { getPartner, type Shown } from '../shown.tsx'

export function UnpaidNote({ checkout, words, attempt }: Shown & { attempt: Attempt }) {
  const { t } = words
  const partner = getPartner(checkout, attempt).name
  const strong = attempt.status === 'expired' ? t('unpaid.expired', { partner }) : t('unpaid.left', { partner })
  return (
    <Note tone="quiet" icon="back" strong={strong} role="status">
      {t('unpaid.safe')}
    </Note>
  )
}
