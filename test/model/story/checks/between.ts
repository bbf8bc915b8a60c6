import { computePositions } from '../../../../src/domain/payment/funds/positions.ts'
import { toFunds } from '../../../../src/domain/payment/funds/stored-funds.ts'
import { readStatement } from '../../world/books.ts'
import type { Shop } from '../../world/shop.ts'
import { balance, type Facts, readFacts } from './facts.ts'

/** Compares after every step, and not only at the end: the books against the chain, the converter and the funds. */
export async function checkBetween(shop: Shop): Promise<string[]> {
  const facts = await readFacts(shop)
  return [...checkChain(facts), ...checkConverter(facts), ...checkFunds(facts)]
}

function checkChain(facts: Facts): string[] {
  const paid = BigInt(facts.paidOut ?? '0')
  const booked = -balance(facts, 'treasury', 'USDC')
  return booked === paid ? [] : [`the chain has paid ${paid}, the books say ${booked}, after a step`]
}

/** A sale whose answer is not stored may be filled: then nothing is said. */
function checkConverter(facts: Facts): string[] {
  const { shop, row } = facts
  if (row.sales.some(({ state }) => state === 'asked')) return []
  const { sold, bought } = readStatement(shop, row.sales.length)
  const wrong = balance(facts, 'conversion', 'USDC') === bought ? [] : [`${bought} were bought, the books differ`]
  for (const [currency, minor] of sold)
    if (-balance(facts, 'conversion', currency) !== minor)
      wrong.push(`the converter has sold ${minor} ${currency}, the books differ after a step`)
  return wrong
}

/** Everything that was booked is what the funds say, and the deposits that the chain has proved. */
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
