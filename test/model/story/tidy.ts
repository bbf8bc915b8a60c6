import { lateMoneyWorkflowId } from '../../../src/domain/ids.ts'
import { attemptsOf } from '../world/books.ts'
import type { Shop } from '../world/shop.ts'

/**
 * For whatever waits there is a decision that ends it. The operator here knows nothing of what the system offers: they say
 * everything that can be said, about every attempt, until the list of what waits is empty.
 */

const ANSWERS = ['release', 'acknowledge', 'retry', 'approve', 'refund', 'recordExternalRefund', 'reject'] as const
const GIVES_BACK: readonly string[] = ['refund', 'recordExternalRefund']
const MOST_DECISIONS = 30
/** Longer than any converter takes in a story. */
export const DAYS_TO_FILL = 26
const MINUTES = 60_000

type Try = { readonly decision: (typeof ANSWERS)[number]; readonly attempt?: string; readonly late?: string }

/** Decides until nothing waits. Answers what cannot be ended. */
export async function tidyUp(shop: Shop): Promise<string[]> {
  let [carriedOut, days, answers] = [0, 0, [] as string[]]
  while (carriedOut < MOST_DECISIONS && days < DAYS_TO_FILL && (await isWaiting(shop))) {
    answers = []
    let isCarriedOut = false
    for (const one of await listTries(shop, carriedOut)) {
      const answer = await say(shop, one)
      answers.push(`${one.decision}: ${answer}`)
      isCarriedOut = !answer.startsWith('refused')
      if (isCarriedOut) break
    }
    if (isCarriedOut) carriedOut++
    else days++
    // Of a payout whose money is in doubt: it is voided first, as the answers say.
    if (!isCarriedOut && answers.some((answer) => answer.includes('void it')))
      await shop.engine.act(shop.paymentId, 'ask void')
    await pass(shop, isCarriedOut ? 50 : 24 * 60)
  }
  const { payment } = await shop.system.loadPayment(shop.db, shop.paymentId)
  const isStuck = await isWaiting(shop)
  return isStuck
    ? [`no decision ends it: ${payment.status} (${payment.parkReason}; ${answers.slice(-4).join('; ')})`]
    : []
}

/** Something of the payment is listed for a person, or its workflow still waits for something. */
async function isWaiting({ db, paymentId }: Shop): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from payment p where id = $1
       and (closed_at is null or exists (select 1 from attention a where a.payment_id = p.id))`,
    [paymentId],
  )
  return rows.length > 0
}

/** Another answer is the first each time. */
async function listTries(shop: Shop, turn: number): Promise<Try[]> {
  const attempts = (await attemptsOf(shop)).map(({ id }) => id)
  const { rows } = await shop.db.query(
    `select distinct attempt_id from attention where payment_id = $1 and kind = 'late'`,
    [shop.paymentId],
  )
  const late = rows.map((row) => row['attempt_id'] as string)
  const tries = ANSWERS.flatMap((decision): Try[] => {
    const named = GIVES_BACK.includes(decision) ? attempts.map((attempt) => ({ decision, attempt })) : []
    const ofLate = GIVES_BACK.includes(decision) ? late.map((attempt) => ({ decision, attempt, late: attempt })) : []
    return [{ decision }, ...named, ...ofLate]
  })
  const first = turn % tries.length
  return [...tries.slice(first), ...tries.slice(0, first)]
}

async function say(shop: Shop, { decision, attempt, late }: Try): Promise<string> {
  const { payment } = await shop.system.loadPayment(shop.db, shop.paymentId)
  const note = { operator: 'bob', reason: `tidies up ${shop.asks.length}`, version: payment.version }
  const argument = { ...note, ...(attempt === undefined ? {} : { attempt }) }
  const workflowId = late === undefined ? shop.paymentId : lateMoneyWorkflowId(late)
  const before = await readHeld(shop)
  shop.ask(decision, decision, { argument, who: 'operator', workflowId })
  await shop.timeline.settle()
  const answer = shop.asks.at(-1)?.answer ?? 'no answer'
  const after = await readHeld(shop)
  const hasLess = [...before].some(([id, units]) => id !== attempt && (after.get(id) ?? 0n) < units)
  if (attempt !== undefined && isDone(answer) && hasLess)
    shop.wrong.push('a decision that named an attempt gave back the money of another one')
  const payouts = await shop.db.query('select 1 from payout where payment_id = $1', [payment.id])
  const couldBeTwo = payment.status === 'under_review' && payouts.rows.length === 0
  const hasMoney = [...before.values()].filter((units) => units > 0n).length
  if (attempt === undefined && isDone(answer) && hasLess && couldBeTwo && hasMoney > 1)
    shop.wrong.push('money of one of two attempts was given back, and nobody had named it')
  return answer
}

const isDone = (answer: string): boolean => answer.endsWith('"refunded"}') || answer.endsWith(': recorded"}')

/** Units that each attempt has by the rows. */
async function readHeld({ db, paymentId }: Shop): Promise<Map<string, bigint>> {
  const { rows } = await db.query(
    'select attempt_id, sum(units)::text as units from part where payment_id = $1 group by 1',
    [paymentId],
  )
  return new Map(rows.map((row) => [row['attempt_id'] as string, BigInt(row['units'] as string)]))
}

async function pass(shop: Shop, minutes: number): Promise<void> {
  await shop.timeline.pass(10 * MINUTES)
  const wrong = await shop.engine.finish(shop.paymentId)
  if (wrong !== null) shop.wrong.push(wrong)
  shop.relayTransfers()
  await shop.timeline.pass(minutes * MINUTES)
}
