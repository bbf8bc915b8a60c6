import type { LocalAccount } from 'viem/accounts'
import { createTreasurySigner, type Token, type TreasurySigner } from '../chain/authorization.ts'
import type { DepositDeps, Funding } from '../chain/context.ts'
import { createDepositKeys } from '../chain/deposits/deposit-keys.ts'
import { openAccounts } from '../chain/keys/open.ts'
import { isPublicAddress } from '../chain/keys/public-addresses.ts'
import type { WorkerConfig } from '../config/config.ts'
import { type Secret, splitSecrets } from '../config/secret.ts'
import type { Hex } from '../domain/hex.ts'
import type { Treasury } from '../domain/settlement/treasuries.ts'

export type Treasuries = {
  /** Every treasury with a key here, the one of TREASURY_KEY first. */
  readonly signers: readonly TreasurySigner[]
  /** Every treasury, with or without a key here. */
  readonly list: readonly Treasury[]
}

type KeySettings = Pick<
  WorkerConfig,
  | 'PINRAIL_MODE'
  | 'CHAIN_ID'
  | 'USDC_ADDRESS'
  | 'USDC_DOMAIN_NAME'
  | 'PAYOUT_MAX_USDC'
  | 'PAYOUT_MAX_USDC_PER_DAY'
  | 'TREASURY_KEY'
  | 'RETIRED_TREASURY_KEYS'
  | 'TREASURIES'
  | 'KEYSTORE_PASSWORD'
>

/** All treasuries have the same policy: a rotation changes the key, not what can be signed. */
export async function openTreasuries(config: KeySettings): Promise<Treasuries> {
  const policy = {
    livemode: config.PINRAIL_MODE === 'live',
    token: getToken(config),
    // A payout above the daily limit could never be signed.
    maxMicroPerPayout: BigInt(Math.min(config.PAYOUT_MAX_USDC, config.PAYOUT_MAX_USDC_PER_DAY)) * 1_000_000n,
  }
  const keys = [config.TREASURY_KEY, config.RETIRED_TREASURY_KEYS].filter((key) => key !== undefined)
  const accounts = (await Promise.all(keys.map((key) => openKeys(config, key)))).flat()
  const signers = accounts.map((account) => createTreasurySigner(account, policy))
  const [only] = signers
  if (only === undefined) throw new Error('TREASURY_KEY names no key')
  return { signers, list: config.TREASURIES ?? [{ address: only.address, firstId: null }] }
}

/** Live mode refuses public test keys. */
export async function openKeys(
  { KEYSTORE_PASSWORD, PINRAIL_MODE }: Pick<WorkerConfig, 'KEYSTORE_PASSWORD' | 'PINRAIL_MODE'>,
  keys: Secret,
): Promise<LocalAccount[]> {
  const accounts = await openAccounts(keys.reveal(), { password: KEYSTORE_PASSWORD?.reveal() })
  const known = PINRAIL_MODE === 'live' ? accounts.find(({ address }) => isPublicAddress(address)) : undefined
  if (known !== undefined) throw new Error(`${known.address} is the account of a public test key: use another one`)
  return accounts
}

/** Null without a key: then the relayers must be funded by hand. */
export async function openFunding(
  config: Pick<
    WorkerConfig,
    'PINRAIL_MODE' | 'GAS_FUNDING_KEY' | 'GAS_TOPUP_POL' | 'GAS_TOPUP_MAX_POL_PER_DAY' | 'KEYSTORE_PASSWORD'
  >,
): Promise<Funding | null> {
  if (config.GAS_FUNDING_KEY === undefined) return null
  const [account, ...more] = await openKeys(config, config.GAS_FUNDING_KEY)
  if (account === undefined || more.length > 0) throw new Error('GAS_FUNDING_KEY names one key')
  const toWei = (pol: number): bigint => BigInt(pol) * 10n ** 18n
  return { account, wei: toWei(config.GAS_TOPUP_POL), maxWeiPerDay: toWei(config.GAS_TOPUP_MAX_POL_PER_DAY) }
}

/** Null without a seed: then no payment has an address here. */
export function openDepositKeys(
  config: Pick<WorkerConfig, 'DEPOSIT_SEED' | 'RETIRED_DEPOSIT_SEEDS' | 'DEPOSIT_WRONG_TOKENS' | 'CHAIN_ID'>,
): DepositDeps | null {
  if (config.DEPOSIT_SEED === undefined) return null
  return {
    keys: createDepositKeys(config.DEPOSIT_SEED.reveal(), config.CHAIN_ID, splitSecrets(config.RETIRED_DEPOSIT_SEEDS)),
    wrongTokens: config.DEPOSIT_WRONG_TOKENS.map((token) => token.toLowerCase() as Hex),
  }
}

export function getToken(config: Pick<WorkerConfig, 'CHAIN_ID' | 'USDC_ADDRESS' | 'USDC_DOMAIN_NAME'>): Token {
  return { chainId: config.CHAIN_ID, address: config.USDC_ADDRESS.toLowerCase() as Hex, name: config.USDC_DOMAIN_NAME }
}
