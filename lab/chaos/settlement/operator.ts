import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { SETTLEMENT_DEFAULTS } from '../../../src/chain/context.ts'
import { deadAfter } from '../../../src/chain/rotation.ts'
import { Secret } from '../../../src/config/secret.ts'
import type { Db } from '../../../src/db/db.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { acknowledge } from '../../../src/operator/payouts.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { insertOwed, type Owed } from '../../settlement/payouts.ts'
import type { Stage } from '../../settlement/stage.ts'
import { readNonce } from './chain-facts.ts'
import { ANNOUNCING } from './payers/announce.ts'
import type { PayerKeys } from './payers/payer-process.ts'
import { createThief } from './thief.ts'

/** What operators do with an engine in the middle of the storm. They restart the processes then. */
export type Operator = {
  /** The first one, and the one that follows it. */
  readonly treasuries: readonly string[]
  fundSuccessor(): Promise<void>
  /** The treasury that new payouts are queued on. */
  treasury(): Hex
  /** Wallets whose keys were removed. */
  removed(): readonly Hex[]
  /** The keys that the processes are started with now. */
  keys(): Omit<PayerKeys, 'depositSeed'>
  /** Removes the key of a lane that has a transaction on the way. False: no lane has one now. */
  removeLaneKey(db: Db): Promise<boolean>
  /**
   * Lets somebody with the first treasury's key steal, and acknowledges the theft when the engine has paused because of it.
   * False: it has not yet.
   */
  endTheft(db: Db): Promise<boolean>
  /** The address that the stolen USDC was sent to. */
  readonly thief: Hex
  rotate(): void
  /** As the runbook for a restored database asks, by a node that loses nothing; for these payments. */
  rebuild(db: Db, owed: readonly Owed[]): Promise<void>
  /**
   * Lets as much of the chain's time pass as the new treasury waits for what the earlier one may have signed. False: that
   * time is in no final block yet, or no process has noticed the rotation.
   */
  passTheWait(db: Db): Promise<boolean>
}

const addressOf = (key: Hex): Hex => privateKeyToAccount(key).address.toLowerCase() as Hex

/** Of the chain, besides the wait. */
const MARGIN_SECONDS = 60

export function createOperator(stage: Stage): Operator {
  const successorKey = generatePrivateKey()
  const [first, successor] = [addressOf(stage.treasuryKey), addressOf(successorKey)]
  let rotated = false
  let relayerKeys = stage.relayerKeys
  const removed: Hex[] = []
  const thief = createThief(stage)
  return {
    treasuries: [first, successor],
    fundSuccessor: () => mintUsdc(stage.chain, { to: successor, micro: 10n ** 13n }),
    treasury: () => (rotated ? successor : first),
    removed: () => removed,
    keys: () => ({
      treasuryKey: rotated ? successorKey : stage.treasuryKey,
      retiredTreasuryKeys: rotated ? [stage.treasuryKey] : [],
      relayerKeys,
      fundingKey: stage.fundingKey,
    }),
    async removeLaneKey(db) {
      for (const key of relayerKeys) {
        const wallet = addressOf(key)
        const { rowCount } = await db.query(
          `select from lane_tx where wallet = $1 and state in ('signed', 'broadcast') and nonce >= $2`,
          [wallet, await readNonce(stage.rpcUrl, wallet)],
        )
        if (rowCount === 0) continue
        relayerKeys = relayerKeys.filter((other) => other !== key)
        removed.push(wallet)
        return true
      }
      return false
    },
    thief: thief.address,
    async endTheft(db) {
      const hash = await thief.steal(db)
      if (hash === null) return false
      const settings = settingsOf(stage, [first, successor])
      await acknowledge({ db, settings, hooks: ANNOUNCING, dryRun: false, say: () => undefined }, hash)
      return true
    },
    rotate() {
      rotated = true
    },
    async rebuild(db, owed) {
      await insertOwed(db, owed, stage.token)
      const settings = settingsOf(stage, [first, successor])
      await rebuild({ db, settings, hooks: ANNOUNCING, dryRun: false, say: () => undefined })
    },
    async passTheWait(db) {
      const { rows } = await db.query(
        'select extract(epoch from retired_at)::bigint as at from treasury where address = $1',
        [first],
      )
      const retired = (rows[0] as { at: string | null } | undefined)?.at
      if (retired === undefined || retired === null) return false
      const dead = deadAfter(Number(retired), SETTLEMENT_DEFAULTS.authorizationSeconds) + MARGIN_SECONDS
      const [final, newest] = await Promise.all([
        stage.chain.getBlock({ blockTag: 'finalized' }),
        stage.chain.getBlock(),
      ])
      // A reorganization may set the chain's clock back: only a final block tells that the time has passed.
      if (Number(final.timestamp) >= dead) return true
      const seconds = dead - Number(newest.timestamp)
      if (seconds > 0) await stage.chain.increaseTime({ seconds })
      return false
    },
  }
}

const settingsOf = (stage: Stage, treasuries: Hex[]): Parameters<typeof rebuild>[0]['settings'] => ({
  DATABASE_URL: '',
  POLYGON_RPC_URLS: [new Secret(stage.rpcUrl)],
  FINALITY_QUORUM: 1,
  PINRAIL_MODE: 'test',
  PUBLIC_URL: 'http://127.0.0.1',
  CHAIN_ID: stage.chain.chain.id,
  USDC_ADDRESS: stage.token,
  SETTLEMENT_START_BLOCK: 0,
  PAYOUT_MAX_USDC: 1_000_000,
  PAYOUT_MAX_USDC_PER_DAY: 1_000_000_000,
  CONVERSION_TOLERANCE_PERCENT: 2,
  TREASURY_ADDRESSES: treasuries,
  RETIRED_TREASURIES: [],
  DEPOSIT_WRONG_TOKENS: [],
})
