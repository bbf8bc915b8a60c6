import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import { listAttempts } from '../fixture/books.ts'
import type { TestPayment } from '../fixture/payment.ts'
import { getUnreturned } from './checks/facts.ts'
import type { StoryStep } from './steps.ts'

/** The operator's view of a payment, and their decisions about it. */

type Decide = Extract<StoryStep, { do: 'decide' }>

/** The version that an operator looks at. */
export async function see({ system, db, paymentId }: TestPayment): Promise<number> {
  return (await system.loadPayment(db, paymentId)).payment.version
}

export async function decide(testPayment: TestPayment, step: Decide, looked: number | null): Promise<void> {
  const attempt = step.of === null ? undefined : (await listAttempts(testPayment))[step.of]?.id
  const version = step.before === true && looked !== null ? looked : await see(testPayment)
  await say(testPayment, { say: step.say, attempt, outside: step.outside, version, mayWait: step.together !== true })
}

export type Saying = {
  readonly say: Decide['say']
  readonly attempt?: string | undefined
  readonly outside?: boolean | undefined
  readonly version: number
  /** False: do not wait for the effects of the decision, and ignore its response. */
  readonly mayWait: boolean
}

/** Decides. Returns the response to the operator; null: none yet. */
export async function say(
  testPayment: TestPayment,
  { say: decision, attempt, outside, version, mayWait }: Saying,
): Promise<string | null> {
  const before = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
  const argument = {
    operator: 'ada',
    reason: `looked at it ${testPayment.asks.length}`,
    version,
    ...(attempt !== undefined && { attempt }),
    ...(outside === true && { outside }),
  }
  testPayment.ask(decision, decision, { argument, who: 'operator' })
  if (!mayWait) return null
  await testPayment.timeline.settle()
  const answer = testPayment.asks.at(-1)?.answer ?? null
  if (answer?.endsWith(': recorded"}') !== true) return answer
  const after = await testPayment.system.loadPayment(testPayment.db, testPayment.paymentId)
  const isHold = decision === 'hold'
  if (version < before.payment.version && !isHold)
    testPayment.wrong.push('an operator decided about what they had not looked at')
  if (after.payment.version === before.payment.version)
    testPayment.wrong.push(`${decision} was recorded, and nothing has changed`)
  if (decision === 'give_back') testPayment.wrong.push(...checkNamed({ before, after, attempt, outside }))
  return answer
}

type Row = Awaited<ReturnType<TestPayment['system']['loadPayment']>>
type GivenBack = {
  readonly before: Row
  readonly after: Row
  readonly attempt: string | undefined
  readonly outside: boolean | undefined
}

/** A give-back means the named attempt, or the only possible one. */
function checkNamed({ before, after, attempt, outside }: GivenBack): string[] {
  const isTouched = ({ id, back, outside: was }: Attempt): boolean => {
    const known = before.attempts.find((one) => one.id === id)
    return back !== known?.back || was !== known?.outside
  }
  const others = after.attempts.filter((one) => one.id !== attempt && isTouched(one))
  if (attempt !== undefined && others.some(({ status }) => status !== 'refunded'))
    return ['a decision that named an attempt gave back the money of another one']
  const { payment } = before
  const isPaidFor = ({ id }: Attempt): boolean => payment.payout === 'paid' && id === payment.paidAttemptId
  const couldBe = before.attempts.filter(
    (one) =>
      one.back === 'no' && getUnreturned(one) > 0n && !isPaidFor(one) && !(outside !== true && mustGoByHand(one)),
  )
  return attempt === undefined && couldBe.length > 1
    ? ['a give-back that could be of two attempts was of one that nobody named']
    : []
}

const mustGoByHand = ({ provider, returned, outside }: Attempt): boolean =>
  provider === 'crypto' || returned || outside !== '0'
