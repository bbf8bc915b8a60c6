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
import { type Office, Refusal, requireMerchant, signedBy } from '../call.ts'

export function describeWallet(wallet: WalletSetting | null): string[] {
  if (wallet === null) return ['no wallet: payments cannot be created']
  const { address, created_at: since, next_address: next, next_at: at } = wallet
  return [
    `wallet ${address} since ${since}`,
    ...(next === null ? [] : [`wallet ${next} for payments created from ${at} on`]),
  ]
}

async function show(office: Office, tenant: { merchantId: string; livemode: boolean }): Promise<WalletSetting | null> {
  const wallet = await readWalletSetting(office.db, tenant)
  office.give('wallet', wallet)
  for (const line of describeWallet(wallet)) office.say(line)
  return wallet
}

export async function showWallet(office: Office): Promise<number> {
  return (await show(office, await requireMerchant(office))) === null ? 1 : 0
}

/** Existing payments keep the wallet that they were made with. */
export async function changeWallet(office: Office): Promise<number> {
  const { db, settings, subjects } = office
  const signed = signedBy(office)
  const merchant = await requireMerchant(office)
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
  await show(office, merchant)
  return 0
}

export async function keepWallet(office: Office): Promise<number> {
  const { db, say } = office
  const signed = signedBy(office)
  const merchant = await requireMerchant(office)
  const dropped = await db.transaction(async (tx) => {
    if (!(await dropPlannedWallet(tx, merchant))) return false
    await recordAction(tx, merchant, { ...signed, kind: 'wallet.kept', data: {} })
    await leaveNotice(tx, merchant, { kind: 'wallet.kept', data: {} })
    return true
  })
  if (!dropped) say('nothing changed: no wallet change is planned')
  await show(office, merchant)
  return dropped ? 0 : 1
}
