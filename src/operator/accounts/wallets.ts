import { leaveNotice } from '../../db/accounts/account-notices.ts'
import {
  dropPlannedWallet,
  isOwnAddress,
  planWallet,
  readWalletSetting,
  setWallet,
  type WalletSetting,
} from '../../db/merchants/wallets.ts'
import { recordAction } from '../../db/operator/actions.ts'
import { checkWallet, WALLET_WAIT_SECONDS } from '../../domain/wallet.ts'
import { checksumAddress } from '../../evm/checksum.ts'
import { type CommandContext, Refusal, requireMerchant, signedBy } from '../call.ts'

export function describeWallet(wallet: WalletSetting | null): string[] {
  if (wallet === null) return ['no wallet: payments cannot be created']
  const { address, created_at: since, next_address: next, next_at: at } = wallet
  return [
    `wallet ${address} since ${since}`,
    ...(next === null ? [] : [`wallet ${next} for payments created from ${at} on`]),
  ]
}

async function show(
  context: CommandContext,
  tenant: { merchantId: string; livemode: boolean },
): Promise<WalletSetting | null> {
  const wallet = await readWalletSetting(context.db, tenant)
  context.give('wallet', wallet)
  for (const line of describeWallet(wallet)) context.say(line)
  return wallet
}

export async function showWallet(context: CommandContext): Promise<number> {
  return (await show(context, await requireMerchant(context))) === null ? 1 : 0
}

/** Existing payments keep the wallet that they were made with. */
export async function changeWallet(context: CommandContext): Promise<number> {
  const { db, settings, subjects } = context
  const signed = signedBy(context)
  const merchant = await requireMerchant(context)
  const check = checkWallet(subjects[1] ?? '', { checksum: checksumAddress, token: settings.USDC_ADDRESS })
  if (!check.ok) throw new Refusal(`the address ${check.message}`)
  const { address } = check
  if (await isOwnAddress(db, address))
    throw new Refusal('the address must belong to the merchant: this one belongs to the platform')
  await db.transaction(async (tx) => {
    // A first wallet is no change: it cannot redirect anybody's money.
    const at = db.livemode ? await planWallet(tx, merchant, { address, waitSeconds: WALLET_WAIT_SECONDS }) : null
    if (at === null) await setWallet(tx, merchant, address)
    await recordAction(tx, merchant, { ...signed, kind: 'wallet.changed', data: { address, at } })
    await leaveNotice(tx, merchant, { kind: 'wallet.changed', data: { address, at } })
  })
  await show(context, merchant)
  return 0
}

export async function keepWallet(context: CommandContext): Promise<number> {
  const { db, say } = context
  const signed = signedBy(context)
  const merchant = await requireMerchant(context)
  const dropped = await db.transaction(async (tx) => {
    if (!(await dropPlannedWallet(tx, merchant))) return false
    await recordAction(tx, merchant, { ...signed, kind: 'wallet.kept', data: {} })
    await leaveNotice(tx, merchant, { kind: 'wallet.kept', data: {} })
    return true
  })
  if (!dropped) say('nothing changed: no wallet change is planned')
  await show(context, merchant)
  return dropped ? 0 : 1
}
