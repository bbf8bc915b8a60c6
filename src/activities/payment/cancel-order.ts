import { changePayment, type PaymentWork } from '../../db/payments/payment-changes.ts'
import type { PaymentWithNews } from '../../db/payments/payments.ts'
import { cancelKey } from '../../domain/ids.ts'
import { openCancel, stateOfCancel } from '../../domain/payment/money/intents.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { mayStillBePaid } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import type { OperatorNote } from '../../domain/payment/requests.ts'
import { askQuietly, callSignal, newsOf, type OrderNews, toAsk } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

export type Cancellation = {
  readonly attempts: readonly Attempt[]
  readonly note: Pick<OperatorNote, 'operator' | 'reason'>
  /** When to go on without the answer of a partner. If a person waits, `at once`: a partner that is down stops nobody. */
  readonly silence: 'at once' | 'after some tries'
}

/**
 * Has the partners take no money for these orders any more, and reads what is true afterwards. What is asked is stored
 * first: a crash or a silent partner leaves an open intent, which every later reading of the order carries on.
 */
export async function cancelAndRead(
  deps: PaymentDeps,
  before: PaymentWithNews,
  { attempts, note, silence }: Cancellation,
): Promise<OrderNews[]> {
  const toStore = attempts.filter(
    (attempt) => canCancel(deps, attempt) && openCancel(before.intents, attempt.id) === null,
  )
  if (toStore.length > 0)
    await changePayment(deps.db, deps.context, {
      id: before.payment.id,
      work: async (work) => {
        for (const { id } of toStore) await ask(work, id, note)
      },
    })
  return Promise.all(
    attempts.map(async (attempt) =>
      newsOf(deps, toAsk(before, attempt), await askQuietly(() => callCancel(deps, attempt, callSignal()), silence)),
    ),
  )
}

function canCancel(deps: PaymentDeps, { provider }: Attempt): boolean {
  return deps.partners[provider].cancelOrder !== undefined
}

/** The order may have come to an end, or been asked to, since it was read. */
async function ask(work: PaymentWork, attemptId: string, note: Cancellation['note']): Promise<void> {
  const { attempts, intents } = work.state
  const attempt = attempts.find(({ id }) => id === attemptId)
  if (attempt === undefined || !mayStillBePaid(attempt.status) || openCancel(intents, attemptId) !== null) return
  await work.ask({ key: cancelKey(attemptId), kind: 'cancel', attemptId, ...note })
}

/** Asks the partner to cancel the order. A partner that cannot cancel is read. */
export async function callCancel(
  deps: PaymentDeps,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<PartnerOrder | null> {
  const [at, attemptId] = [deps.partners[attempt.provider], attempt.id]
  const order = await (at.cancelOrder?.({ attemptId }, signal) ?? at.readOrder({ attemptId }, signal))
  return order ?? (attempt.status === 'opening' ? neverReached(deps, attempt) : null)
}

/** The partner knows no order of the attempt, and its page was never shown to a buyer: no money can come. */
function neverReached({ accounts }: PaymentDeps, { id: attemptId, provider, asked }: Attempt): PartnerOrder {
  const order = { reference: '', status: 'canceled', received: null, failureCode: null } as const
  return { ...order, attemptId, account: accounts[provider], amount: asked }
}

/** Carries an open cancellation on by what the partner has said of the order. Money that does not fit wins over it too. */
export async function recordCancel(
  work: PaymentWork,
  attemptId: string,
  { isMisfit }: { readonly isMisfit: boolean },
): Promise<void> {
  const intent = openCancel(work.state.intents, attemptId)
  const attempt = work.state.attempts.find(({ id }) => id === attemptId)
  if (intent === null || attempt === undefined) return
  const state = isMisfit ? 'refused' : stateOfCancel(attempt.status)
  if (state !== intent.state) await work.settleIntent(intent, state)
}

/** Nobody listens to these orders any more: what has not been carried out will not be. */
export async function giveUpCancels(work: PaymentWork): Promise<void> {
  for (const intent of work.state.intents) if (intent.kind === 'cancel') await work.settleIntent(intent, 'refused')
}
