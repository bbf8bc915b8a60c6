import type { Agreement } from '../../domain/account/agreement.ts'
import { Note } from '../kit/note.tsx'
import type { Tone } from '../kit/tone.ts'

export const AGREEMENT_PATH = '/dashboard/agreement'

type Words = { readonly tone: Tone; readonly strong: string; readonly text: string; readonly action: string | null }

/** Why the account takes no payments; null: it takes them. */
function getWords({ status, application, holdsPayouts }: Agreement): Words | null {
  switch (status) {
    case 'approved':
      return null
    case 'suspended':
      return {
        tone: 'problem',
        strong: 'This account is suspended.',
        text: holdsPayouts
          ? 'It takes no payments, and its links are closed. Payouts wait until the account is active again. The money is safe.'
          : 'It takes no payments, and its links are closed. Payments that are already paid still arrive in your wallet.',
        action: null,
      }
    case 'rejected':
      return {
        tone: 'problem',
        strong: 'The operator has not approved this account.',
        text: 'You can correct your application and send it again.',
        action: 'Apply again',
      }
    case 'pending':
      return application === null
        ? {
            tone: 'wait',
            strong: 'This account takes no payments yet.',
            text: 'Describe what you sell, so that the operator can approve it. You can set up everything else now.',
            action: 'Describe what you sell',
          }
        : {
            tone: 'wait',
            strong: 'The operator is reading your application.',
            text: 'You receive an e-mail when the account can take payments. You can set up everything else now.',
            action: null,
          }
  }
}

/** `linked`: with a button to the page of the agreement. */
export function StatusNote({ agreement, linked = true }: { readonly agreement: Agreement; readonly linked?: boolean }) {
  const words = getWords(agreement)
  if (words === null) return null
  const { tone, strong, text, action } = words
  const { statusMessage } = agreement
  return (
    <Note
      tone={tone}
      icon={tone === 'wait' ? 'clock' : 'warning'}
      strong={strong}
      more={statusMessage !== null && <p>The operator wrote: {statusMessage}</p>}
      actions={
        linked &&
        action !== null && (
          <a class="button" href={AGREEMENT_PATH}>
            {action}
          </a>
        )
      }
    >
      {text}
    </Note>
  )
}
