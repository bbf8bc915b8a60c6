import { randomUUID } from 'node:crypto'
import { multicallCodec } from '../chain/codec.ts'
import { type DepositDeps, SETTLEMENT_DEFAULTS } from '../chain/context.ts'
import { connectRpc } from '../chain/rpc/rpc.ts'
import type { WorkerConfig } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { SettlementHooks } from '../db/settlement/context.ts'
import { transferLimits } from '../domain/settlement/transfers.ts'
import type { Logger } from '../log.ts'
import { createReceiptIssuer } from '../settlement/receipts/issue.ts'
import { createReceiptSigner } from '../settlement/receipts/sign.ts'
import { createSettlementRunner, type SettlementRunner } from '../settlement/runner.ts'
import { openFunding, openKeys, type Treasuries, tokenOf } from './keys.ts'

/** The receipts of a full block have some megabytes, and nobody waits for them. */
const RECEIPTS_TIMEOUT_MS = 20_000

export async function composeSettlement(
  config: WorkerConfig,
  shared: {
    db: Db
    log: Logger
    hooks: SettlementHooks
    treasuries: Treasuries
    deposits: DepositDeps | null
    onEnded: () => void
  },
): Promise<SettlementRunner> {
  const relayers = await openKeys(config, config.RELAYER_KEYS)
  return createSettlementRunner({
    ...shared.hooks,
    db: shared.db,
    clock: () => new Date(),
    log: shared.log,
    everyMs: config.SETTLEMENT_TICK_MS,
    onEnded: shared.onEnded,
    chain: {
      rpc: connectRpc({
        urls: config.POLYGON_RPC_URLS.map((url) => url.reveal()),
        quorum: config.FINALITY_QUORUM,
        chainId: config.CHAIN_ID,
        warn: (about, message) => shared.log.warn(about, message),
      }),
      codec: multicallCodec,
      token: tokenOf(config),
      treasuries: shared.treasuries.signers,
      treasuryList: shared.treasuries.list,
      deposits: shared.deposits,
      relayers,
      funding: await openFunding(config),
      options: {
        ...SETTLEMENT_DEFAULTS,
        // A new name per start: an engine that was killed is not its own successor until its lease has run out.
        owner: randomUUID(),
        maxFeeWei: BigInt(config.MAX_FEE_GWEI) * 1_000_000_000n,
        ...(config.SETTLEMENT_START_BLOCK !== undefined && { startBlock: config.SETTLEMENT_START_BLOCK }),
        limits: transferLimits(config),
        maxMicroPerDay: BigInt(config.PAYOUT_MAX_USDC_PER_DAY) * 1_000_000n,
      },
    },
  })
}

export function composeReceipts(config: WorkerConfig, shared: { db: Db; log: Logger; clock: () => number }) {
  const token = tokenOf(config).address
  return createReceiptIssuer({
    ...shared,
    scope: { livemode: shared.db.livemode, chainId: config.CHAIN_ID, token },
    rpc: connectRpc({
      urls: config.POLYGON_RPC_URLS.map((url) => url.reveal()),
      quorum: config.FINALITY_QUORUM,
      chainId: config.CHAIN_ID,
      timeoutMs: RECEIPTS_TIMEOUT_MS,
    }),
    signer: createReceiptSigner(config.RECEIPT_KEY.reveal()),
    issuer: config.PUBLIC_URL,
  })
}
