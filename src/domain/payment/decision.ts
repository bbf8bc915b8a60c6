import { type Answer, listAnswers, type Say } from './funds/answer.ts'
import type { Funds } from './funds/funds.ts'
import { isClosed, type PaymentStatus } from './payment.ts'
import type { Decision } from './requests.ts'

/** The workflow's validators, the activity (for the row as it is then) and docs/decide.md use these rules. */

export const DECISIONS: Readonly<Record<Say, string>> = {
  settle:
    'settles the money that is there as it is: too little, after a failure, sold far off the rate, or of a changed order. It tries a conversion or a payout again that was stopped',
  give_back:
    'gives the money of an attempt back through its partner. With `outside` it records that the buyer got it from elsewhere. Money that was sold goes back after its payout is void',
  write_off:
    'records that a loss is known, or that there is nothing to give back. A payment without money ends with it as `failed`, except after `other_token`: then it waits for the buyer again',
  hold: 'keeps the money from being sold, and the payout from being signed',
  release: 'ends the hold',
}

/** An answer as operators see it: its account is an attempt of the payment. */
export type Offered =
  | { readonly say: Exclude<Say, 'give_back'>; readonly attempt?: never; readonly outside?: never }
  | { readonly say: 'give_back'; readonly attempt: string; readonly outside?: true }

export const listOffered = (funds: Funds): Offered[] => listAnswers(funds).map(toOffered)

function toOffered(answer: Answer): Offered {
  if (answer.say !== 'give_back') return answer
  const { accountId, ...rest } = answer
  return { ...rest, attempt: accountId }
}

export const CHANGED_SINCE =
  'The payment has changed since you looked at it. Nothing was changed: run `pinrail payments explain` again, and decide with its current version'
export const PAYOUT_SIGNED =
  'The payout is signed, on its way or ended: it can no longer be held. Void it instead (`pinrail settlement void`)'
export const PROOF_USED =
  'This proof was recorded for another give-back already. Nothing was changed: look for the right one'
const UNSEEN = 'Add "version": the version of the payment that you looked at. `pinrail payments explain` shows it'
const UNSIGNED = 'Give {"operator": "…", "reason": "…"}'
const UNWRITABLE = 'Operator, reason, attempt and proof must be text without NUL and without broken Unicode'
const ONLY_OUTSIDE = 'A proof belongs to money that the buyer got from elsewhere: add "outside": true'
const ONLY_BACK = '"attempt", "outside" and "proof" belong to give_back'

/** For an operator in the Temporal UI. Operator and reason go to the timeline. */
export function describePayload(say: Say): string {
  const version = say === 'hold' ? '' : ', "version"'
  return `{"operator", "reason"${version}${say === 'give_back' ? ', "attempt", "outside", "proof"' : ''}}`
}

/** Returns why the decision is malformed; null: it is not. A person can send it by hand, with any content. */
export function whyMalformed(say: Say, decision: Decision | undefined): string | null {
  if (decision === undefined) return UNSIGNED
  const { operator, reason, version, attempt, outside, proof } = decision
  const texts = [operator, reason, attempt ?? '', proof ?? '']
  if (texts.some((text) => typeof text !== 'string')) return UNSIGNED
  if (operator.trim() === '' || reason.trim() === '') return UNSIGNED
  // Postgres stores neither: the step would be tried again forever, and block every other message.
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) return UNWRITABLE
  const isBare = attempt === undefined && outside === undefined && proof === undefined
  if (say !== 'give_back' && !isBare) return ONLY_BACK
  if (proof !== undefined && outside !== true) return ONLY_OUTSIDE
  return say === 'hold' || isVersion(version) ? null : UNSEEN
}

const isVersion = (version: number | undefined): boolean =>
  Number.isInteger(version) && Number(version) > 0 && Number(version) < 2_000_000_000

type Known = { readonly status: PaymentStatus; readonly version: number; readonly answers: readonly Offered[] }

/** Returns why the decision is refused; null: it can be carried out. `payment` is null if it is not known yet. */
export function whyRefused(say: Say, decision: Decision, payment: Known | null): string | null {
  const malformed = whyMalformed(say, decision)
  if (malformed !== null || payment === null) return malformed
  // A hold applies to the payment in any version.
  if (say !== 'hold' && decision.version !== undefined && decision.version < payment.version) return CHANGED_SINCE
  const refused = findOffered(say, decision, payment)
  return typeof refused === 'string' ? refused : null
}

/** Returns the answer that the decision means, or as a text why it is refused. */
export function toAnswer(say: Say, decision: Decision, payment: Known): Answer | string {
  const offered = findOffered(say, decision, payment)
  if (typeof offered === 'string' || offered.say !== 'give_back') return offered
  const { attempt, ...rest } = offered
  return { ...rest, accountId: attempt }
}

function findOffered(say: Say, { attempt, outside = false }: Decision, payment: Known): Offered | string {
  const { answers } = payment
  const same = answers.filter((offered) => offered.say === say && (offered.outside ?? false) === outside)
  const [match, another] = same.filter((offered) => attempt === undefined || offered.attempt === attempt)
  if (match !== undefined && another === undefined) return match
  if (match !== undefined)
    return `Name the attempt whose money goes back, as "attempt": ${same.map((offered) => offered.attempt).join(' or ')}`
  return whyNotOffered(say, { attempt, outside }, payment)
}

function whyNotOffered(
  say: Say,
  { attempt, outside }: { readonly attempt: string | undefined; readonly outside: boolean },
  { status, answers }: Known,
): string {
  const decision = `${say}${outside ? ' outside' : ''}${attempt === undefined ? '' : ` of ${attempt}`}`
  const others = describeOffered(answers)
  if (say === 'release') return 'Nothing is held'
  if (say === 'hold')
    return isClosed(status)
      ? `A ${status} payment cannot be held`
      : 'The payment is held already, or its payout has ended'
  const offer = others.length === 0 ? 'There is nothing to decide' : `Decide with ${others.join(', or ')}`
  return `The payment is ${status}, and ${decision} changes nothing. ${offer}`
}

export function describeOffered(answers: readonly Offered[]): string[] {
  return answers.map(({ say, attempt, outside }) =>
    [say, ...(attempt === undefined ? [] : [`--attempt ${attempt}`]), ...(outside === true ? ['--outside'] : [])].join(
      ' ',
    ),
  )
}
