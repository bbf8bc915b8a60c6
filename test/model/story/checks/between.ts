import { computePositions } from '../../../../src/domain/payment/funds/positions.ts'
import { toFunds } from '../../../../src/domain/payment/funds/stored-funds.ts'
import type { TestPayment } from '../../fixture/payment.ts'
import { balance, type Facts, readFacts, sumRefunds } from './facts.ts'
import { checkOdd, checkOurs, checkOwed, checkReceivables } from './money.ts'
import { checkAsked } from './refunds.ts'

/**
 * Compares after every step, and not only at the end: the books with the chain, the converter, the partners and the
 * funds.
 */
export async function checkBetween(
  testPayment: TestPayment,
  sold: number | null,
): Promise<{ wrong: string[]; sold: number | null }> {
  const facts = await readFacts(testPayment)
  const wrong = [
    ...checkReceivables(facts),
    ...checkOwed(facts),
    ...checkOurs(facts),
    ...checkFunds(facts),
    ...checkAsked(facts),
    ...(await checkOdd(facts, sold)),
  ]
  return { wrong: wrong.map((each) => `${each}, after a step`), sold: facts.row.payment.takenSale }
}

/** All bookings equal what the funds compute, and the USDC that the chain has proved. */
function checkFunds(facts: Facts): string[] {
  const positions = computePositions(toFunds(facts.row))
  const { there, taken, owed, spent } = sumRefunds(facts)
  const deposits = balance(facts, 'deposits', 'USDC') - there
  const beyond = new Map([
    ['suspense USDC', -deposits - owed],
    ['treasury USDC', taken],
    ['exchange USDC', -spent],
  ])
  const keys = new Set([...positions.keys(), ...facts.ledger.keys(), ...beyond.keys()])
  keys.delete('deposits USDC')
  return [...keys].flatMap((key) => {
    const fact = beyond.get(key) ?? 0n
    const [booked, expected] = [facts.ledger.get(key) ?? 0n, (positions.get(key) ?? 0n) + fact]
    return booked === expected ? [] : [`${key} is ${booked} in the books, and ${expected} by the funds`]
  })
}
