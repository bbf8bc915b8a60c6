import type { TestPayment } from '../fixture/payment.ts'
import { checkAnswers, checkClosing, checkEvents } from './checks/events.ts'
import { readFacts } from './checks/facts.ts'
import {
  checkListening,
  checkLosses,
  checkOurs,
  checkOutside,
  checkOwed,
  checkPartners,
  checkPayout,
  checkReceivables,
  checkReturned,
  checkSettled,
} from './checks/money.ts'
import { checkRefunds, checkUsdc } from './checks/refunds.ts'
import { checkConversion, checkDelay, checkExpiry, checkRate, checkTokens, checkWithheld } from './checks/reports.ts'
import { checkHeldThere, checkVisible, checkWakers } from './checks/wakers.ts'
import { checkClaims } from './claims.ts'

/** The rules for every story after it had time to end. Each fact is read from the party that owns it. */

export async function checkStory(testPayment: TestPayment): Promise<string[]> {
  const facts = await readFacts(testPayment)
  return [
    ...checkPartners(facts),
    ...checkReceivables(facts),
    ...checkOwed(facts),
    ...checkOurs(facts),
    ...checkPayout(facts),
    ...checkListening(facts),
    ...checkLosses(facts),
    ...(await checkReturned(facts)),
    ...(await checkRefunds(facts)),
    ...checkUsdc(facts),
    ...(await checkClaims(testPayment)),
    ...checkOutside(facts),
    ...checkSettled(facts),
    ...(await checkWakers(facts)),
    ...checkVisible(facts),
    ...(await checkHeldThere(facts)),
    ...(await checkTokens(facts)),
    ...checkWithheld(facts),
    ...checkRate(facts),
    ...checkExpiry(facts),
    ...(await checkDelay(facts)),
    ...(await checkConversion(facts)),
    ...checkAnswers(facts),
    ...(await checkClosing(facts)),
    ...(await checkEvents(facts)),
  ]
}
