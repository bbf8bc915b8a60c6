import type { Owed } from '../../settlement/payouts.ts'
import type { PayerGroup } from './payers/payer-group.ts'
import { type Side, withDb } from './sides.ts'

/** An action that happens once, when this part of the payments is paid. */
type Turn = {
  readonly name: TurnName
  readonly at: number
  /** Minimum number of steps of the run since the previous turn. */
  readonly after: number
  /** Returns false if it cannot happen now; it is then tried again. */
  happen(owed: readonly Owed[]): Promise<boolean>
}

const TURNS = [
  'dumps',
  'postgresKills',
  'laneKeysRemoved',
  'rotations',
  'restores',
  'treasuriesLost',
  'waitsPassed',
  'thefts',
] as const
type TurnName = (typeof TURNS)[number]

/**
 * Parts of the payments that are paid. The restored database knows neither the removed key nor the rotation. The
 * payouts of the lost treasury wait for the time to pass.
 */
const AT: Readonly<Record<TurnName, Pick<Turn, 'at' | 'after'>>> = {
  dumps: { at: 0.2, after: 0 },
  postgresKills: { at: 0.25, after: 0 },
  laneKeysRemoved: { at: 0.3, after: 0 },
  rotations: { at: 0.4, after: 0 },
  restores: { at: 0.4, after: 60 },
  treasuriesLost: { at: 0.4, after: 20 },
  waitsPassed: { at: 0, after: 60 },
  thefts: { at: 0.5, after: 0 },
}

/** Steps after which a turn that cannot happen is left out. */
const PATIENCE = 400

export type Turns = {
  readonly counts: Record<string, number>
  isOver(): boolean
  /** Makes the turn that is due; `owed` are the payments that were requested. */
  step(paid: number, asked: { readonly owed: readonly Owed[]; readonly of: number }): Promise<void>
}

export function createTurns(payers: PayerGroup, { operator, name }: Side, say: (text: string) => void): Turns {
  const happen: Record<TurnName, Turn['happen']> = {
    async dumps() {
      await payers.dump()
      return true
    },
    async postgresKills() {
      await payers.killPostgres()
      return true
    },
    async laneKeysRemoved() {
      if (!(await withDb(payers.url, async (db) => operator?.removeLaneKey(db) ?? false))) return false
      await payers.restart()
      return true
    },
    async rotations() {
      operator?.rotate()
      await payers.restart()
      return true
    },
    async restores(owed) {
      await payers.restore(owed)
      return true
    },
    async treasuriesLost() {
      await withDb(payers.url, async (db) => operator?.loseTreasury(db))
      await payers.restart()
      return true
    },
    waitsPassed: () => withDb(payers.url, async (db) => operator?.passTheWait(db) ?? false),
    thefts: () => withDb(payers.url, async (db) => operator?.endTheft(db) ?? false),
  }
  const names = TURNS.filter((turn) => operator !== null || turn === 'dumps' || turn === 'restores')
  const counts = Object.fromEntries(names.map((turn) => [turn, 0]))
  const turns: Turn[] = names.map((turn) => ({ name: turn, ...AT[turn], happen: happen[turn] }))
  let waited = 0
  return {
    counts,
    isOver: () => turns.length === 0,
    async step(paid, { owed, of }) {
      const [turn] = turns
      waited += 1
      if (turn === undefined || paid < turn.at * of || waited < turn.after) return
      if (await turn.happen(owed)) {
        say(`${name}: ${turn.name} at ${paid} of ${of} paid`)
        counts[turn.name] = 1
        waited = 0
        turns.shift()
      } else if (waited > PATIENCE) turns.shift()
    },
  }
}
