import type { Shop } from '../world/shop.ts'
import { readFacts } from './checks/facts.ts'
import {
  checkBooks,
  checkCompleted,
  checkGoesOn,
  checkOurs,
  checkPartners,
  checkParts,
  checkPayout,
  checkReturned,
  checkSettled,
} from './checks/money.ts'
import {
  checkApproved,
  checkClosedMisfits,
  checkConversion,
  checkDelay,
  checkExpiry,
  checkHeldThere,
  checkMisfits,
  checkOutside,
  checkRate,
  checkTokens,
  checkWithheld,
} from './checks/reports.ts'
import { checkAnswers, checkClosing, checkEvents, checkGivenBack } from './checks/told.ts'
import { checkVisible, checkWakers } from './checks/wakers.ts'

/** What must be true of every story, once everything was given time to end. Facts are asked of those whose they are. */

export async function checkStory(shop: Shop): Promise<string[]> {
  const facts = await readFacts(shop)
  return [
    ...(await checkPartners(facts)),
    ...checkBooks(facts),
    ...checkOurs(facts),
    ...checkParts(facts),
    ...checkPayout(facts),
    ...checkCompleted(facts),
    ...(await checkGoesOn(facts)),
    ...(await checkReturned(facts)),
    ...(await checkSettled(facts)),
    ...(await checkWakers(facts)),
    ...(await checkVisible(facts)),
    ...(await checkMisfits(facts)),
    ...checkOutside(facts),
    ...(await checkTokens(facts)),
    ...(await checkClosedMisfits(facts)),
    ...checkApproved(facts),
    ...(await checkHeldThere(facts)),
    ...checkWithheld(facts),
    ...checkRate(facts),
    ...checkExpiry(facts),
    ...checkDelay(facts),
    ...(await checkConversion(facts)),
    ...checkAnswers(facts),
    ...(await checkGivenBack(facts)),
    ...(await checkClosing(facts)),
    ...(await checkEvents(facts)),
  ]
}
