import { listAttempts } from '../fixture/books.ts'
import type { TestPayment } from '../fixture/payment.ts'
import { say, see } from './operator.ts'
import type { StoryStep } from './steps.ts'

/**
 * Every wait has a decision that ends it. This operator ignores the offered decisions and makes every possible one
 * about every attempt, until the attention list is empty.
 */

const SAYS = ['release', 'settle', 'give_back', 'write_off'] as const
const MOST_DECISIONS = 30
/** Longer than any converter takes in a story. */
export const DAYS_TO_FILL = 26
const MINUTES = 60_000

type Try = {
  readonly say: Extract<StoryStep, { do: 'decide' }>['say']
  readonly attempt?: string
  readonly outside?: true
}

/** Decides until nothing waits. Returns the waits that cannot be ended. */
export async function tidyUp(testPayment: TestPayment): Promise<string[]> {
  let [carriedOut, days, answers] = [0, 0, [] as string[]]
  while (carriedOut < MOST_DECISIONS && days < DAYS_TO_FILL && (await isWaiting(testPayment))) {
    answers = []
    let isCarriedOut = false
    for (const one of await listTries(testPayment, carriedOut)) {
      const answer = (await say(testPayment, { ...one, version: await see(testPayment), mayWait: true })) ?? 'no answer'
      answers.push(`${one.say}: ${answer}`)
      isCarriedOut = answer.startsWith('{')
      if (isCarriedOut) break
    }
    if (isCarriedOut) carriedOut++
    else days++
    await pass(testPayment, isCarriedOut ? 50 : 24 * 60)
  }
  const { payment } = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
  const isStuck = await isWaiting(testPayment)
  return isStuck
    ? [`no decision ends it: ${payment.status} (${payment.statusReason}; ${answers.slice(-4).join('; ')})`]
    : []
}

/** True if the payment is on the attention list, or its workflow still waits for something. */
async function isWaiting({ db, paymentId }: TestPayment): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from payment p where id = $1
       and (closed_at is null or exists (select 1 from attention a where a.payment_id = p.id))`,
    [paymentId],
  )
  return rows.length > 0
}

/** Another decision is the first each time. */
async function listTries(testPayment: TestPayment, turn: number): Promise<Try[]> {
  const attempts = (await listAttempts(testPayment)).map(({ id }) => id)
  const backs: Try[] = [undefined, ...attempts].flatMap((attempt) => {
    const back = { say: 'give_back' as const, ...(attempt !== undefined && { attempt }) }
    return [back, { ...back, outside: true as const }]
  })
  const tries = SAYS.flatMap((each): Try[] => (each === 'give_back' ? backs : [{ say: each }]))
  const first = turn % tries.length
  return [...tries.slice(first), ...tries.slice(0, first)]
}

async function pass(testPayment: TestPayment, minutes: number): Promise<void> {
  await testPayment.timeline.pass(10 * MINUTES)
  const wrong = await testPayment.engine.finish(testPayment.paymentId)
  if (wrong !== null) testPayment.wrong.push(wrong)
  testPayment.relayChanges()
  await testPayment.timeline.pass(minutes * MINUTES)
}
