import type { Logger } from 'pino'
import type { Batch, ConverterEntry, ConverterState, PreparedMint } from './converter/state.ts'

/**
 * Mints on the development chain. `prepare` signs without sending: the transaction's nonce, and so its hash, are fixed
 * from then on.
 */
export type Minter = {
  prepare(microUsdc: string): Promise<PreparedMint>
  /** Sends the signed bytes; sending them again is harmless. */
  send(mint: PreparedMint): Promise<void>
  /**
   * `superseded`: another transaction has taken the nonce, so that this one can never be mined. `reverted`: it was
   * mined without effect.
   */
  look(mint: PreparedMint): Promise<'mined' | 'waiting' | 'superseded' | 'reverted'>
}

export type TreasuryTopUp = {
  /**
   * Delivers what was filled and is not yet on the chain, in one transaction. Throws when the chain does not answer;
   * the next call goes on where this one stopped.
   */
  tick: () => Promise<void>
  /** Micro-USDC that is bought and not known to be delivered. */
  outstanding(): string
}

export type TopUpDeps = {
  readonly state: ConverterState
  readonly append: (...entries: ConverterEntry[]) => Promise<void>
  readonly minter: Minter
  readonly clock: () => number
  readonly log: Logger
}

/**
 * The bought USDC reaches the treasury exactly once, whatever crashes: the signed transaction is in the journal before
 * it is sent. After a crash the same bytes are sent again, and since they hold one nonce the chain takes them once. Only
 * when their nonce was used by something else, so that they can never be mined, is the batch signed anew.
 */
export function createTreasuryTopUp(deps: TopUpDeps): TreasuryTopUp {
  const { state, append, minter } = deps
  let running: Promise<void> | null = null

  const open = (): Batch | undefined => [...state.batches.values()].find((batch) => !batch.isDelivered)

  async function advance(batch: Batch): Promise<void> {
    const found = await minter.look(batch.mint)
    if (found === 'mined') {
      await append({ kind: 'batch', batch: { ...batch, isDelivered: true } })
      deps.log.info({ batch: batch.id, microUsdc: batch.microUsdc, hash: batch.mint.hash }, 'treasury topped up')
      return
    }
    if (found === 'waiting') return minter.send(batch.mint)
    deps.log.warn({ batch: batch.id, hash: batch.mint.hash, found }, 'treasury top-up is signed anew')
    const mint = await minter.prepare(batch.microUsdc)
    await append({ kind: 'batch', batch: { ...batch, mint } })
    await minter.send(mint)
  }

  async function start(): Promise<void> {
    const filled = [...state.undelivered]
      .flatMap((key) => state.conversions.get(key) ?? [])
      .filter((conversion) => conversion.filledAt <= deps.clock())
    if (filled.length === 0) return
    const microUsdc = total(filled.map((conversion) => conversion.boughtMicroUsdc))
    const mint = await minter.prepare(microUsdc)
    const batch = {
      id: `topup_${state.batches.size + 1}`,
      microUsdc,
      keys: filled.map((conversion) => conversion.key),
      mint,
      isDelivered: false,
    }
    await append({ kind: 'batch', batch })
    await minter.send(mint)
  }

  async function once(): Promise<void> {
    const batch = open()
    if (batch === undefined) await start()
    else await advance(batch)
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
      return total([...waiting, ...(open() === undefined ? [] : [open()?.microUsdc ?? '0'])])
    },
  }
}

function total(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n).toString()
}
