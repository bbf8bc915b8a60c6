import type { WorkerConfig } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { convertWholeUsdc } from '../domain/money.ts'
import type { RefillPartner } from '../domain/settlement/refill.ts'
import { newId } from '../ids.ts'
import { createBridge } from '../partners/bridge/bridge.ts'
import type { Rates } from '../partners/converter/rates.ts'
import type { Logger } from '../runtime/log.ts'
import type { Wakeup } from '../runtime/wakeup.ts'
import type { Loop } from '../worker/loop.ts'
import { createRefillRound } from '../worker/refills/refill-round.ts'
import { getToken, type Treasuries } from './keys.ts'
import { hasFloat } from './shared.ts'

/** Milliseconds: partners settle once a day. */
const REFILLS_EVERY_MS = 60_000

/** Empty if a converter delivers what it has bought. */
export function refillLoops(
  config: WorkerConfig,
  shared: { db: Db; log: Logger; clock: () => number; rates: Rates; treasuries: Treasuries; wakeup: Wakeup },
): Loop[] {
  if (!hasFloat(config)) return []
  const { db, log, clock, rates, treasuries, wakeup } = shared
  const tick = createRefillRound({
    db,
    log,
    clock,
    rates,
    newId,
    scope: { chainId: config.CHAIN_ID, token: getToken(config).address },
    partner: connectRefillPartner(config, treasuries),
    settlementDays: config.FLOAT_SETTLEMENT_DAYS,
    leastMicro: convertWholeUsdc(config.FLOAT_REFILL_MIN_USDC),
  })
  return [{ name: 'refills', everyMs: REFILLS_EVERY_MS, tick, idle: { wakeup, everyMs: REFILLS_EVERY_MS }, log }]
}

/** Null: operators exchange the money. */
function connectRefillPartner(config: WorkerConfig, { signers }: Treasuries): RefillPartner | null {
  const [current] = signers
  const { BRIDGE_API_KEY: apiKey, BRIDGE_CUSTOMER: customer } = config
  if (config.FLOAT_REFILL === 'none' || apiKey === undefined || customer === undefined || current === undefined)
    return null
  return createBridge({ url: config.BRIDGE_URL, apiKey: apiKey.reveal(), customer, treasury: current.address })
}
