import { randomUUID } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../domain/payout.ts'
import { createTreasurySigner } from './authorization.ts'
import { multicallCodec } from './batch.ts'
import { SETTLEMENT_DEFAULTS, type SettlementDeps } from './context.ts'
import { GWEI } from './fees.ts'
import { connectRpc } from './rpc.ts'

const LOCAL_CHAIN = 31337

/** EIP-712 name of the USDC contract: on Amoy it differs from Polygon's, and the start checks it against the contract. */
const domainName = (chainId: number): string => (chainId === 80_002 ? 'USDC' : 'USD Coin')

/** No single payout above a million USDC unless configured: far above any limit of a payment method. */
const MAX_MICRO_PER_PAYOUT = 10n ** 12n

/** Ten million USDC a day: a stolen session of the signer is bounded by it. */
const MAX_MICRO_PER_DAY = 10n ** 13n

export type SettlementSetup = {
  readonly livemode: boolean
  readonly chainId: number
  readonly usdc: string
  readonly rpcUrls: readonly string[]
  readonly quorum: number
  /** Private keys, 0x and 64 hexadecimal digits. */
  readonly treasuryKey: string
  readonly relayerKeys: readonly string[]
  readonly maxFeeGwei: number
}

/** Connects the engine's parts; nothing is called yet. A local chain is read from its first block. */
export function connectSettlement(setup: SettlementSetup): Omit<SettlementDeps, 'journal' | 'clock' | 'log'> {
  const { chainId, livemode } = setup
  const token = { chainId, address: setup.usdc.toLowerCase() as Hex, name: domainName(chainId) }
  const policy = { livemode, token, maxMicroPerPayout: MAX_MICRO_PER_PAYOUT }
  return {
    rpc: connectRpc({ urls: setup.rpcUrls, quorum: setup.quorum }),
    codec: multicallCodec,
    token,
    treasuries: [createTreasurySigner(privateKeyToAccount(setup.treasuryKey as Hex), policy)],
    relayers: setup.relayerKeys.map((key) => privateKeyToAccount(key.trim() as Hex)),
    options: {
      ...SETTLEMENT_DEFAULTS,
      owner: randomUUID(),
      maxFeeWei: BigInt(setup.maxFeeGwei) * GWEI,
      maxMicroPerDay: MAX_MICRO_PER_DAY,
      ...(chainId === LOCAL_CHAIN && { startBlock: 0 }),
    },
  }
}
