import { randomUUID } from 'node:crypto'
import type { LocalAccount } from 'viem/accounts'
import { DEVELOPMENT_CHAIN_ID } from '../../scripts/system/anvil.ts'
import { createTreasurySigner, type Token } from '../../src/chain/authorization.ts'
import { multicallCodec, type PayoutCodec } from '../../src/chain/codec.ts'
import { SETTLEMENT_DEFAULTS, type SettlementDeps, type SettlementOptions } from '../../src/chain/context.ts'
import { createDepositKeys } from '../../src/chain/deposits/deposit-keys.ts'
import { createKeyAccount } from '../../src/chain/keys/private-key.ts'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import type { Db } from '../../src/db/db.ts'
import type { SettlementHooks } from '../../src/db/settlement/context.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { Treasury } from '../../src/domain/settlement/treasuries.ts'
import { DEVELOPMENT_USDC } from '../../src/sandbox/chain.ts'
import { createSettlementRunner, type SettlementRunner } from '../../src/settlement/runner.ts'

const TOKEN: Token = { chainId: DEVELOPMENT_CHAIN_ID, address: DEVELOPMENT_USDC, name: 'USD Coin' }

/** Little, so that top-ups are frequent. */
const TOP_UP = { wei: 2n * 10n ** 18n, maxWeiPerDay: 10n ** 24n }

export type EngineParts = {
  readonly db: Db
  readonly rpcUrls: readonly string[]
  readonly treasuryKey: Hex
  /** Keys of other treasuries, which pay what was queued on them. */
  readonly retiredTreasuryKeys?: readonly Hex[]
  /** Default: the treasury of the key alone. */
  readonly treasuryList?: readonly Treasury[]
  readonly relayerKeys: readonly Hex[]
  /** Tops up the relayers. Without it, they are not topped up. */
  readonly fundingKey?: Hex
  /** Base64. Without it, payments have no deposit addresses. */
  readonly depositSeed?: string
  /** Creates the account of a key. Default: an account that signs at once. */
  readonly toAccount?: (key: Hex) => LocalAccount
  readonly log: SettlementDeps['log']
  readonly everyMs: number
  readonly codec?: PayoutCodec
  readonly options?: Partial<SettlementOptions>
  readonly hooks?: Partial<SettlementHooks>
}

const nothing = async (): Promise<void> => undefined

/** Composes the settlement engine as the worker does, on a local chain, without payment workflows. */
export function composeEngine(parts: EngineParts): SettlementRunner {
  const { toAccount = createKeyAccount, retiredTreasuryKeys = [], depositSeed } = parts
  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
  const treasuries = [parts.treasuryKey, ...retiredTreasuryKeys].map((key) =>
    createTreasurySigner(toAccount(key), policy),
  )
  return createSettlementRunner({
    db: parts.db,
    clock: () => new Date(),
    log: parts.log,
    everyMs: parts.everyMs,
    onSettled: nothing,
    onStopped: nothing,
    onResumed: nothing,
    onVoided: nothing,
    onDeposit: nothing,
    onReturned: nothing,
    onTreasuryMovement: nothing,
    onBalanceDifference: nothing,
    onGas: nothing,
    ...parts.hooks,
    chain: {
      rpc: connectRpc({
        urls: parts.rpcUrls,
        quorum: Math.floor(parts.rpcUrls.length / 2) + 1,
        chainId: TOKEN.chainId,
      }),
      codec: parts.codec ?? multicallCodec,
      token: TOKEN,
      treasuries,
      treasuryList: parts.treasuryList ?? treasuries.slice(0, 1).map(({ address }) => ({ address, firstId: null })),
      deposits:
        depositSeed === undefined ? null : { keys: createDepositKeys(depositSeed, TOKEN.chainId), wrongTokens: [] },
      relayers: parts.relayerKeys.map(toAccount),
      funding: parts.fundingKey === undefined ? null : { account: toAccount(parts.fundingKey), ...TOP_UP },
      options: {
        ...SETTLEMENT_DEFAULTS,
        owner: randomUUID(),
        maxFeeWei: 500n * 10n ** 9n,
        startBlock: 0,
        maxMicroPerDay: 10n ** 15n,
        limits: { maxMicroPerPayout: policy.maxMicroPerPayout, maxMicroPerDay: 10n ** 15n, fillTolerancePercent: 2 },
        ...parts.options,
      },
    },
  })
}
