import type { Fixture } from '../fixture.ts'

/** True if payouts and deposits are read up to the final block. */
export const isCaughtUp = (of: Fixture) => async (): Promise<boolean> => {
  const { number } = await of.chain.getBlock({ blockTag: 'finalized' })
  const { rows } = await of.db.query('select from chain_cursor where least(scanned_number, deposits_number) = $1', [
    number.toString(),
  ])
  return rows.length === 1
}

/** Runs rounds until `isDone`. False if `rounds` of them were not enough. */
export async function within(rounds: number, runner: { tick(): Promise<unknown> }, isDone: () => Promise<boolean>) {
  for (let round = 0; round < rounds; round++) {
    await runner.tick().catch(() => undefined)
    if (await isDone()) return true
  }
  return false
}
