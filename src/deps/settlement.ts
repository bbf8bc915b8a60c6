import { randomUUID } from 'node:crypto'
import { multicallCodec } from '../chain/codec.ts'
import { type DepositDeps, SETTLEMENT_DEFAULTS } from '../chain/context.ts'
import { connectRpc } from '../chain/rpc/rpc.ts'
import type { WorkerConfig } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { convertWholeUsdc } from '../domain/money.ts'
import { transferLimits } from '../domain/settlement/transfers.ts'
import type { Logger } from '../runtime/log.ts'
import type { Wakeup } from '../runtime/wakeup.ts'
import { createReceiptIssuer } from '../settlement/receipts/issue.ts'
import { createReceiptSigner } from '../settlement/receipts/sign.ts'
import { createSettlementRunner, type SettlementRunner } from '../settlement/runner.ts'
import type { Loop } from '../worker/loop.ts'
import { getToken, openFunding, openKeys, type Treasuries } from './keys.ts'
import { hasFloat } from './shared.ts'

/** Milliseconds. The receipts of a full block have some megabytes, and nothing waits for them. */
const RECEIPTS_TIMEOUT_MS = 20_000

export async function composeSettlement(
  config: WorkerConfig,
  shared: {
    db: Db
    log: Logger
    hooks: SettlementHooks
    treasuries: Treasuries
    deposits: DepositDeps | null
  },
): Promise<SettlementRunner> {
  const relayers = await openKeys(config, config.RELAYER_KEYS)
  return createSettlementRunner({
    ...shared.hooks,
    db: shared.db,
    clock: () => new Date(),
    log: shared.log,
    everyMs: config.SETTLEMENT_TICK_MS,
    reserveMicro: hasFloat(config) ? convertWholeUsdc(config.FLOAT_RESERVE_USDC) : null,
    chain: {
      rpc: connectRpc({
        urls: config.POLYGON_RPC_URLS.map((url) => url.reveal()),
        quorum: config.FINALITY_QUORUM,
        chainId: config.CHAIN_ID,
        warn: (about, message) => shared.log.warn(about, message),
      }),
      codec: multicallCodec,
      token: getToken(config),
      treasuries: shared.treasuries.signers,
      treasuryList: shared.treasuries.list,
      deposits: shared.deposits,
      relayers,
      funding: await openFunding(config),
      options: {
        ...SETTLEMENT_DEFAULTS,
        // A new name for each start: an engine that replaces a killed one must wait until its lease expires.
        owner: randomUUID(),
        maxFeeWei: BigInt(config.MAX_FEE_GWEI) * 1_000_000_000n,
        ...(config.SETTLEMENT_START_BLOCK !== undefined && { startBlock: config.SETTLEMENT_START_BLOCK }),
        limits: transferLimits(config),
        maxMicroPerDay: BigInt(config.PAYOUT_MAX_USDC_PER_DAY) * 1_000_000n,
      },
    },
  })
}

/** Milliseconds: a receipt can wait, and one round proves everything that was settled since the last one. */
const RECEIPTS_EVERY_MS = 5000

export function composeReceiptLoop(
  config: WorkerConfig,
  { db, log, clock, wakeup }: { db: Db; log: Logger; clock: () => number; wakeup: Wakeup },
): Loop {
  const issueReceipts = createReceiptIssuer({
    db,
    log,
    clock,
    scope: { livemode: db.livemode, chainId: config.CHAIN_ID, token: getToken(config).address },
    rpc: connectRpc({
      urls: config.POLYGON_RPC_URLS.map((url) => url.reveal()),
      quorum: config.FINALITY_QUORUM,
      chainId: config.CHAIN_ID,
      timeoutMs: RECEIPTS_TIMEOUT_MS,
    }),
    signer: createReceiptSigner(config.RECEIPT_KEY.reveal()),
    issuer: config.PUBLIC_URL,
  })
  return {
    name: 'receipts',
    everyMs: RECEIPTS_EVERY_MS,
    // A round leaves nothing that could be proved now.
    tick: () => issueReceipts().then(() => 0),
    idle: { wakeup, apartMs: RECEIPTS_EVERY_MS },
    log,
  }
}
