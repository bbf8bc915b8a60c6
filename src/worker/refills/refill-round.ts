import type { Db } from '../../db/db.ts'
import type { SettlementScope } from '../../db/settlement/context.ts'
import {
  completeRefill,
  endRefill,
  openRefill,
  readArrived,
  storeTransfer,
  storeWord,
  takeRefills,
} from '../../db/settlement/float.ts'
import type { Currency } from '../../domain/currencies.ts'
import { convertToMicroUsdc, type MicroUsdc } from '../../domain/money.ts'
import type { Refill, RefillPartner, RefillTransfer } from '../../domain/settlement/refill.ts'
import type { Logger } from '../../runtime/log.ts'

export type RefillDeps = {
  readonly db: Db
  readonly scope: Pick<SettlementScope, 'chainId' | 'token'>
  /** Null: operators exchange the money themselves, and name the transactions. */
  readonly partner: RefillPartner | null
  readonly rates: { current(currency: Currency): Promise<{ readonly rate: string }> }
  /** Days after which partners have settled what buyers paid. */
  readonly settlementDays: number
  /** A smaller exposure is not exchanged. */
  readonly leastMicro: MicroUsdc
  readonly newId: (kind: 'refill') => string
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

const DAY_MS = 86_400_000

/** Between two questions about a refill. A webhook of the partner has it asked earlier. */
const ASKED_EVERY_MS = 5 * 60_000

const CALL_TIMEOUT_MS = 10_000

/**
 * Opens a refill for each currency with enough settled money, and follows the open ones until their USDC is claimed.
 * A refill is stored before the partner is asked, and its id is the partner's key, so that a crash at any step or a
 * lost answer leads to no second transfer. Returns the number of refills that were looked at.
 */
export function createRefillRound(deps: RefillDeps): () => Promise<number> {
  const { db, partner, clock, log } = deps
  const getTime = (): string => new Date(clock()).toISOString()

  return async function tick() {
    const settledDay = new Date(clock() - deps.settlementDays * DAY_MS).toISOString().slice(0, 10)
    if (partner !== null)
      for (const currency of partner.currencies)
        await db.transaction((tx) =>
          openRefill(tx, {
            id: deps.newId('refill'),
            partner: partner.name,
            currency,
            settledDay,
            minor: null,
            leastMicro: deps.leastMicro,
            txHash: null,
            at: getTime(),
          }),
        )
    const due = await takeRefills(db, {
      at: getTime(),
      nextAt: new Date(clock() + ASKED_EVERY_MS).toISOString(),
    })
    for (const refill of due)
      await follow(refill).catch(async (error: unknown) => {
        log.warn({ err: error, refill: refill.id }, 'a refill could not be followed; tried again')
        await storeWord(db, refill.id, error instanceof Error ? error.message : String(error))
      })
    return due.length
  }

  async function follow(refill: Refill): Promise<void> {
    const txHash = refill.txHash ?? (await ask(refill))
    if (txHash === null) return
    const micro = await readArrived(db, deps.scope, txHash)
    if (micro === null) return
    const { rate } = await deps.rates.current(refill.money.currency)
    const marketMicro = convertToMicroUsdc(refill.money, rate)
    if (await db.transaction((tx) => completeRefill(tx, { refill, micro, marketMicro, at: getTime() })))
      log.info({ refill: refill.id, micro, costMicro: refill.costMicro }, 'a refill has arrived')
  }

  /** Returns the transaction that brings the USDC; null: there is none yet. */
  async function ask(refill: Refill): Promise<RefillTransfer['txHash']> {
    const transfer = await readTransfer(refill)
    if (transfer === null) return null
    await storeTransfer(db, refill.id, transfer)
    if (transfer.state === 'ended')
      await db.transaction((tx) => endRefill(tx, { id: refill.id, word: transfer.word, at: getTime() }))
    return transfer.txHash
  }

  /** After the partner has forgotten the key, a second request would make a second transfer: the first one is looked up. */
  async function readTransfer({
    id,
    partner: name,
    money,
    askedAt,
    reference,
  }: Refill): Promise<RefillTransfer | null> {
    if (partner === null || name !== partner.name) return null
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
    if (reference !== null) return partner.read(reference, signal)
    if (clock() - Date.parse(askedAt ?? getTime()) < partner.keyMs) return partner.request({ id, money }, signal)
    const found = await partner.find(id, signal)
    if (found === null) throw new Error(`${name} has given no answer to the request, and lists no transfer for it`)
    return found
  }
}
