import { computePositions } from '../../../../src/domain/payment/funds/positions.ts'
import { toFunds } from '../../../../src/domain/payment/funds/stored-funds.ts'
import type { TestPayment } from '../../fixture/payment.ts'
import { balance, type Facts, readFacts } from './facts.ts'
import { checkOdd, checkOurs, checkOwed, checkReceivables } from './money.ts'

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
    ...(await checkOdd(facts, sold)),
  ]
  return { wrong: wrong.map((each) => `${each}, after a step`), sold: facts.row.payment.takenSale }
}

/** All bookings equal what the funds compute, and the deposits that the chain has proved. */
function checkFunds(facts: Facts): string[] {
  const positions = computePositions(toFunds(facts.row))
  const deposits = balance(facts, 'deposits', 'USDC')
  const keys = new Set([...positions.keys(), ...facts.ledger.keys()])
  keys.delete('deposits USDC')
  return [...keys].flatMap((key) => {
    const fact = key === 'suspense USDC' ? -deposits : 0n
    const [booked, expected] = [facts.ledger.get(key) ?? 0n, (positions.get(key) ?? 0n) + fact]
    return booked === expected ? [] : [`${key} is ${booked} in the books, and ${expected} by the funds`]
  })
}
