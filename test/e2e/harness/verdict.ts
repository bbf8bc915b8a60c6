import { expect } from '@jest/globals'
import { deliveredEvents, until } from '../../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../../scripts/demo/merchant.ts'
import { checkSucceeded, type Verdict } from './checker.ts'
import type { TestSystem } from './test-system.ts'

/** Finality, the treasury's top-ups and their bookings come a few blocks later. */
const BOOKS_WITHIN_MS = 30_000

/** Partners, chain, inbox and books agree that each of them was paid, settled and announced once. */
export async function expectSucceeded(
  testSystem: TestSystem,
  payments: readonly PaymentAnswer[],
): Promise<Verdict['figures']> {
  for (const { id } of payments) await deliveredEvents(testSystem.merchant, id)
  const look = () =>
    checkSucceeded({ info: testSystem.system.info, sandboxUrl: testSystem.system.sandboxUrl }, payments)
  let last = await look()
  const clean = async (): Promise<true | null> => {
    if (last.problems.length > 0) last = await look()
    return last.problems.length === 0 ? true : null
  }
  await until(clean, 'the books to agree', BOOKS_WITHIN_MS).catch(() => undefined)
  expect(last.problems).toEqual([])
  return last.figures
}
