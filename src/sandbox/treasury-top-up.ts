import type { Logger } from '../runtime/log.ts'
import type { Batch, ConverterEntry, ConverterState, PreparedDelivery } from './converter/state.ts'

/**
 * Gives USDC to the treasury. `prepare` signs without sending, which fixes the transaction's nonce and hash.
 */
export type UsdcSource = {
  prepare(microUsdc: string): Promise<PreparedDelivery>
  /** Sends the signed transaction. May be repeated. */
  send(delivery: PreparedDelivery): Promise<void>
  /**
   * `mined` can still be undone, `final` cannot. `superseded`: another transaction has the nonce, so this one can
   * never be mined. `reverted`: it was mined without effect.
   */
  look(delivery: PreparedDelivery): Promise<'final' | 'mined' | 'waiting' | 'superseded' | 'reverted'>
}

export type TreasuryTopUp = {
  /**
   * Delivers all filled conversions that are not on the chain yet, in one transaction. Throws if the chain does not
   * answer; the next call continues.
   */
  tick: () => Promise<void>
  /** Returns the micro-USDC that was bought and is not in a final block yet. */
  outstanding(): string
}

export type TopUpDeps = {
  readonly state: ConverterState
  readonly append: (...entries: ConverterEntry[]) => Promise<void>
  readonly source: UsdcSource
  readonly clock: () => number
  readonly log: Logger
}

/**
 * Delivers bought USDC to the treasury exactly once, even after crashes. The signed transaction is in the journal
 * before it is sent. After a crash, or if the chain has lost its last blocks, the same transaction is sent again; with
 * its one nonce it is mined once. Another one is signed only if a different transaction has used the nonce.
 */
export function createTreasuryTopUp(deps: TopUpDeps): TreasuryTopUp {
  const { state, append, source } = deps
  let running: Promise<void> | null = null

  const open = (): Batch[] => [...state.batches.values()].filter((batch) => !batch.isFinal)

  /** Sends or signs the transaction as needed. Returns true if it is on the chain. */
  async function advance(batch: Batch): Promise<boolean> {
    const found = await source.look(batch.delivery)
    if (found === 'mined') return true
    if (found === 'final') {
      await append({ kind: 'batch', batch: { ...batch, isFinal: true } })
      deps.log.info({ batch: batch.id, microUsdc: batch.microUsdc, hash: batch.delivery.hash }, 'treasury topped up')
      return true
    }
    if (found === 'waiting') await source.send(batch.delivery)
    else {
      deps.log.warn({ batch: batch.id, hash: batch.delivery.hash, found }, 'signing the treasury top-up again')
      await deliver(batch)
    }
    return false
  }

  async function deliver(batch: Omit<Batch, 'delivery'>): Promise<void> {
    const delivery = await source.prepare(batch.microUsdc)
    await append({ kind: 'batch', batch: { ...batch, delivery } })
    await source.send(delivery)
  }

  async function once(): Promise<void> {
    // One after another, in the order of their nonces.
    for (const batch of open()) if (!(await advance(batch))) return
    const filled = [...state.undelivered]
      .flatMap((key) => state.conversions.get(key) ?? [])
      .filter((conversion) => conversion.filledAt <= deps.clock())
    if (filled.length === 0) return
    await deliver({
      id: `topup_${state.batches.size + 1}`,
      microUsdc: total(filled.map((conversion) => conversion.boughtMicroUsdc)),
      keys: filled.map((conversion) => conversion.key),
      isFinal: false,
    })
  }

  return {
    tick() {
      running ??= once().finally(() => {
        running = null
      })
      return running
    },
    outstanding() {
      const waiting = [...state.undelivered].flatMap((key) => state.conversions.get(key)?.boughtMicroUsdc ?? [])
      return total([...waiting, ...open().map((batch) => batch.microUsdc)])
    },
  }
}

function total(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n).toString()
}
