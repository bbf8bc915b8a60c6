import { lateMoneyWorkflowId } from '../../../src/domain/ids.ts'
import {
  lateAttempts,
  needsOperator,
  nextStep,
  offeredDecisions,
  snapshotOf,
} from '../../../src/domain/payment/snapshot.ts'
import type { Shop } from '../world/shop.ts'

/** For whatever waits for an operator there is a decision that ends it: one who takes what is offered comes to an end. */

const MOST_DECISIONS = 30
/** Longer than any converter takes in a story. */
export const DAYS_TO_FILL = 26
const MINUTES = 60_000

/** Decides until nothing waits. Answers what cannot be ended. */
export async function tidyUp(shop: Shop): Promise<string[]> {
  const answers: string[] = []
  for (let [count, days] = [0, 0]; count < MOST_DECISIONS && days < DAYS_TO_FILL; ) {
    const before = await read(shop)
    if (before === null) return []
    const { snapshot } = before
    const [late] = lateAttempts(snapshot)
    const reason = needsOperator(snapshot)
    const wanted = late === undefined ? offeredDecisions(snapshot) : ['refund', 'recordExternalRefund']
    // A hold is lifted first; of an order that was changed that is refused until it is acknowledged.
    const isChanged = snapshot.orderChanged === true && count % 2 === 1
    // Late money goes back whether the payment, which is over, was held or not.
    const isHeld = snapshot.held && late === undefined
    // … and of money that the partner holds back, or says does not fit, which may go back all the same.
    const isMisfit = answers.at(-1)?.includes('does not match this order') === true
    const isWithheld = answers.at(-1)?.includes('withholds the money of this order') === true
    const isHeldBack = snapshot.held && (isWithheld || isMisfit)
    const lifts = isChanged ? 'acknowledge' : 'release'
    // Of a payout whose money is in doubt: it is voided first, as the answer says.
    const isDoubted = answers.at(-1)?.includes('must not be paid, void it (') === true
    if (isDoubted || (isWithheld && snapshot.converted)) await shop.engine.act(shop.paymentId, 'ask void')
    const decision = isHeld && !isHeldBack ? lifts : wanted[count % wanted.length]
    if (decision !== undefined) {
      // A hold that cannot be lifted is tried in between.
      const mustName = answers.slice(-2).some(asksForName)
      // Each time another one.
      const place = (answers.filter(asksForName).length - 1) % snapshot.attempts.length
      const named = mustName ? snapshot.attempts[place]?.id : undefined
      const attempt = late ?? (reason === 'surplus' ? snapshot.surplus?.[0] : named)
      const note = { operator: 'bob', reason: `tidies up ${count}`, version: snapshot.version }
      const argument = { ...note, ...(attempt === undefined ? {} : { attempt }) }
      const workflowId = late === undefined ? shop.paymentId : lateMoneyWorkflowId(late)
      shop.ask(decision, decision, { argument, who: 'operator', workflowId })
      await shop.timeline.settle()
      answers.push(`${reason ?? 'late'}: ${decision}: ${shop.asks.at(-1)?.answer}`)
    }
    await shop.timeline.pass(10 * MINUTES)
    const wrong = await shop.engine.finish(shop.paymentId)
    if (wrong !== null) shop.wrong.push(wrong)
    shop.relayTransfers()
    // What is only listened for ends by itself.
    await shop.timeline.pass(decision === undefined ? 24 * 60 * MINUTES : 50 * MINUTES)
    if (decision === undefined) days++
    else count++
  }
  const end = await read(shop)
  return end === null ? [] : [`no decision ends it: ${end.status} (${answers.slice(-3).join('; ')})`]
}

const asksForName = (answer: string): boolean => answer.includes('Name the attempt')

/** Null: nothing waits any more. */
async function read(shop: Shop) {
  const state = await shop.system.loadPayment(shop.db, shop.paymentId)
  const snapshot = snapshotOf(state)
  const isOver = nextStep(snapshot) === 'done' && lateAttempts(snapshot).length === 0
  return isOver ? null : { snapshot, status: `${snapshot.status} ${snapshot.parkReason}` }
}
