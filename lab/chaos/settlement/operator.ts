import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { longestValidity, SETTLEMENT_DEFAULTS } from '../../../src/chain/context.ts'
import { Secret } from '../../../src/config/secret.ts'
import type { Db } from '../../../src/db/db.ts'
import { stampTreasuries } from '../../../src/db/settlement/signing/treasuries.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { Treasury } from '../../../src/domain/settlement/treasuries.ts'
import { type Act, acknowledge } from '../../../src/operator/payouts.ts'
import { rebuild } from '../../../src/operator/rebuild.ts'
import { takeOver } from '../../../src/operator/take-over.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { insertOwed, type Owed } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'
import { readNonce } from './chain-facts.ts'
import { ANNOUNCING } from './payers/announce.ts'
import type { PayerKeys } from './payers/payer-process.ts'
import { createThief } from './thief.ts'

const actOn = (db: Db, settings: Act['settings']): Act => ({
  db,
  settings,
  hooks: ANNOUNCING,
  dryRun: false,
  signed: { operator: 'the chaos run', reason: 'a drill' },
  say: () => undefined,
})

/** Actions of operators on an engine in the middle of the run. They restart the processes then. */
export type Operator = {
  /** The first treasury, and its successor. */
  readonly treasuries: readonly string[]
  fundSuccessor(): Promise<void>
  removed(): readonly Hex[]
  keys(): Omit<PayerKeys, 'depositSeed'>
  /** Removes the key of a lane that has a transaction in flight. Returns false if no lane has one now. */
  removeLaneKey(db: Db): Promise<boolean>
  /**
   * Lets somebody with the first treasury's key steal, and acknowledges the theft after the engine has paused because
   * of it. Returns false if it has not yet.
   */
  endTheft(db: Db): Promise<boolean>
  readonly thief: Hex
  /** The list of treasuries, for payments of now and later. */
  readonly list: readonly Treasury[]
  rotate(): void
  /** Removes the key of the first treasury, and lets the other one take over. */
  loseTreasury(db: Db): Promise<void>
  /** Rebuilds as the runbook for a restored database requires, by a node that loses nothing; for these payments. */
  rebuild(db: Db, owed: readonly Owed[]): Promise<void>
  /**
   * Lets the chain's time pass for as long as the successor waits for what the lost treasury may have signed before the
   * restore. Returns false if no final block has that time yet.
   */
  passTheWait(db: Db): Promise<boolean>
}

const getAddress = (key: Hex): Hex => privateKeyToAccount(key).address.toLowerCase() as Hex

/** Seconds of the chain, in addition to the wait. */
const MARGIN_SECONDS = 60

/** `firstId`: the first of the payments that the successor pays. */
export function createOperator(setup: Setup, firstId: string): Operator {
  const successorKey = generatePrivateKey()
  const [first, successor] = [getAddress(setup.treasuryKey), getAddress(successorKey)]
  const list = [
    { address: first, firstId: null },
    { address: successor, firstId },
  ]
  let [rotated, lost] = [false, false]
  let relayerKeys = setup.relayerKeys
  const removed: Hex[] = []
  const thief = createThief(setup)
  return {
    treasuries: [first, successor],
    fundSuccessor: () => mintUsdc(setup.chain, { to: successor, micro: 10n ** 13n }),
    list,
    removed: () => removed,
    keys: () => ({
      treasuryKey: rotated ? successorKey : setup.treasuryKey,
      retiredTreasuryKeys: rotated && !lost ? [setup.treasuryKey] : [],
      treasuryList: rotated ? list : list.slice(0, 1),
      relayerKeys,
      fundingKey: setup.fundingKey,
    }),
    async removeLaneKey(db) {
      for (const key of relayerKeys) {
        const wallet = getAddress(key)
        const { rowCount } = await db.query(
          `select from lane_tx where wallet = $1 and state in ('signed', 'broadcast') and nonce >= $2`,
          [wallet, await readNonce(setup.rpcUrl, wallet)],
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
      const settings = createSettings(setup, list)
      await acknowledge(actOn(db, settings), hash)
      return true
    },
    rotate() {
      rotated = true
    },
    async loseTreasury(db) {
      lost = true
      const settings = createSettings(setup, list)
      await takeOver(actOn(db, settings), first, null)
    },
    async rebuild(db, owed) {
      // The dump knows no payment of the successor: those that are requested again follow later.
      const scope = { livemode: false, chainId: setup.chain.chain.id, token: setup.token }
      const refusal = await stampTreasuries({ db, scope, hooks: ANNOUNCING }, { list, keys: null })
      if (refusal !== null) throw new Error(refusal)
      await insertOwed(db, owed, setup.token)
      const settings = createSettings(setup, list)
      await rebuild({ db, settings, hooks: ANNOUNCING, dryRun: false, say: () => undefined })
    },
    passTheWait: (db) => passTheWait(setup, db),
  }
}

async function passTheWait(setup: Setup, db: Db): Promise<boolean> {
  const { rows } = await db.query('select ceil(extract(epoch from restored_at))::bigint as at from chain_cursor')
  const { at } = rows[0] as { at: string }
  const dead = Number(at) + longestValidity(SETTLEMENT_DEFAULTS) + MARGIN_SECONDS
  const [final, newest] = await Promise.all([setup.chain.getBlock({ blockTag: 'finalized' }), setup.chain.getBlock()])
  // A reorganization may set the chain's clock back: only a final block shows that the time has passed.
  if (Number(final.timestamp) >= dead) return true
  const seconds = dead - Number(newest.timestamp)
  if (seconds > 0) await setup.chain.increaseTime({ seconds })
  return false
}

const createSettings = (setup: Setup, list: readonly Treasury[]): Parameters<typeof rebuild>[0]['settings'] => ({
  DATABASE_URL: '',
  POLYGON_RPC_URLS: [new Secret(setup.rpcUrl)],
  FINALITY_QUORUM: 1,
  PINRAIL_MODE: 'test',
  PUBLIC_URL: 'http://127.0.0.1',
  CHAIN_ID: setup.chain.chain.id,
  USDC_ADDRESS: setup.token,
  SETTLEMENT_START_BLOCK: 0,
  PAYOUT_MAX_USDC: 1_000_000,
  PAYOUT_MAX_USDC_PER_DAY: 1_000_000_000,
  CONVERSION_TOLERANCE_PERCENT: 2,
  CONVERTER: 'simulator',
  FLOAT_RESERVE_USDC: 1000,
  TREASURIES: list,
  DEPOSIT_WRONG_TOKENS: [],
})
