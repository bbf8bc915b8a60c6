import { z } from 'zod'
import { leaveNotice } from '../../../db/accounts/account-notices.ts'
import { writeAudit } from '../../../db/accounts/audit.ts'
import type { Session, Tenant, Tx } from '../../../db/db.ts'
import { lockMerchant } from '../../../db/merchants/merchants.ts'
import {
  dropPlannedWallet,
  planWallet,
  proveWallet,
  readWalletSetting,
  setWallet as setStoredWallet,
  type WalletSetting,
} from '../../../db/merchants/wallets.ts'
import { WALLET_WAIT_SECONDS, walletProofText } from '../../../domain/wallet.ts'
import { recoverSigner } from '../../../evm/signed-message.ts'
import { checkReceivingWallet, type WalletDeps } from '../../accounts/receiving-wallet.ts'
import type { Caller } from '../../auth/auth.ts'
import { WALLET_SETTING } from '../../document/examples.ts'
import { refuseField } from '../../http/problems.ts'
import { defineOperation } from '../../operation.ts'
import { moment } from './fields.ts'
import { requireTestKey, type StepUp, TEST_KEYS_ONLY } from './step-up.ts'

export type SettingsOperationDeps = StepUp & WalletDeps & { readonly chainId: number }

/** Accepts any text, so that the error can say what it appears to be. */
const walletBody = z.strictObject({
  address: z
    .string()
    .max(200)
    .meta({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'Mixed case must match the EIP-55 checksum.' }),
  signature: z.string().max(1000).optional().meta({
    pattern: '^0x[0-9a-fA-F]{130}$',
    description:
      'Proof that you hold the wallet: its signature (EIP-191, `personal_sign`) of `proof_text` of this object.',
  }),
})

const plannedChange = z.strictObject({
  address: z.string(),
  effective_at: moment.meta({ description: 'Payments created after that go there.' }),
  proved: z.boolean(),
})

const walletObject = z
  .strictObject({
    object: z.literal('wallet'),
    livemode: z.boolean(),
    address: z.string().nullable(),
    chain: z.literal('polygon'),
    chain_id: z.int(),
    token: z.string(),
    set_at: moment.nullable(),
    proved: z.boolean().meta({ description: 'True if a signature proved who controls the wallet.' }),
    proof_text: z.string().meta({ description: 'What the wallet signs to prove it.' }),
    change: plannedChange
      .nullable()
      .meta({ description: 'The planned change: in live mode a change takes effect after 24 hours.' }),
  })
  .meta({ id: 'Wallet', examples: [WALLET_SETTING] })

export const readWallet = defineOperation({
  name: 'readWallet',
  method: 'get',
  path: '/v1/settings/wallet',
  tag: 'Settings',
  summary: 'Read the wallet that the USDC goes to',
  scope: 'settings:read',
  answers: { 200: walletObject },
  handle: async ({ caller, db }, deps: SettingsOperationDeps) => ({
    status: 200,
    body: await render(deps, db, caller),
  }),
})

export const setWallet = defineOperation({
  name: 'setWallet',
  method: 'put',
  path: '/v1/settings/wallet',
  tag: 'Settings',
  summary: 'Set the wallet that the USDC of later payments goes to',
  description: `${TEST_KEYS_ONLY} Existing payments keep their wallet.`,
  scope: 'settings:write',
  audited: ({ address }) => ({ address }),
  body: walletBody,
  answers: { 200: walletObject },
  problems: ['step_up_required'],
  example: { body: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' } },
  handle: async ({ caller, db, body }, deps: SettingsOperationDeps) => {
    requireTestKey(deps, caller, 'wallet')
    const check = await checkReceivingWallet(deps, db, body.address)
    if (!check.ok) throw refuseField('address', check.message, check.code)
    if (body.signature !== undefined && !(await isSignedBy(check.address, body.signature, caller)))
      throw refuseField('signature', `must be of proof_text, by the wallet ${check.address}`, 'signature_invalid')
    const proved = body.signature !== undefined
    await db.transaction((tx) => changeWallet(tx, caller, { address: check.address, proved }))
    return { status: 200, body: await render(deps, db, caller) }
  },
})

export const stopWalletChange = defineOperation({
  name: 'stopWalletChange',
  method: 'post',
  path: '/v1/settings/wallet/stop_change',
  tag: 'Settings',
  summary: 'Stop a planned change of the wallet',
  description: 'Also possible with a live key, because it changes nothing. If no change is planned, nothing happens.',
  scope: 'settings:write',
  answers: { 200: walletObject },
  handle: async ({ caller, db, ip }, deps: SettingsOperationDeps) => {
    await db.transaction((tx) => keepWallet(tx, { caller, ip }))
    return { status: 200, body: await render(deps, db, caller) }
  },
})

async function render(
  { chainId, token }: SettingsOperationDeps,
  db: Session,
  tenant: Tenant,
): Promise<z.output<typeof walletObject>> {
  const wallet = await readWalletSetting(db, tenant)
  return {
    object: 'wallet',
    livemode: tenant.livemode,
    address: wallet?.address ?? null,
    chain: 'polygon',
    chain_id: chainId,
    token,
    set_at: wallet?.created_at ?? null,
    proved: wallet?.proved ?? false,
    proof_text: walletProofText(tenant),
    change: plannedChangeIn(wallet),
  }
}

/** Logs only a change that was stopped. The dashboard logs what a person does. */
async function keepWallet(tx: Tx, { caller, ip }: { caller: Caller; ip: string }): Promise<void> {
  if (!(await dropPlannedWallet(tx, caller))) return
  await leaveNotice(tx, caller, { kind: 'wallet.kept', data: {} })
  const { merchantId, keyId } = caller
  const note = { merchantId, actor: `key_${keyId}`, action: stopWalletChange.name, data: {}, ip }
  if (keyId !== null) await writeAudit(tx, note)
}

function plannedChangeIn(wallet: WalletSetting | null): z.output<typeof plannedChange> | null {
  if (wallet === null || wallet.next_address === null || wallet.next_at === null) return null
  return { address: wallet.next_address, effective_at: wallet.next_at, proved: wallet.next_proved }
}

async function isSignedBy(address: string, signature: string, tenant: Tenant): Promise<boolean> {
  return (await recoverSigner(walletProofText(tenant), signature)) === address.toLowerCase()
}

/**
 * A first wallet is set at once: it cannot redirect anybody's money. In live mode another one waits. Setting the
 * current address cancels a waiting change. Everybody of the account is notified.
 */
async function changeWallet(
  tx: Tx,
  tenant: Tenant,
  { address, proved }: { address: string; proved: boolean },
): Promise<void> {
  await lockMerchant(tx, tenant.merchantId)
  const before = await readWalletSetting(tx, tenant)
  const isSame = before?.address === address
  if (!isSame || before.next_address !== null) {
    const waits = tenant.livemode && before !== null && !isSame
    const at = waits ? await planWallet(tx, tenant, { address, waitSeconds: WALLET_WAIT_SECONDS }) : null
    if (!waits) await setStoredWallet(tx, tenant, address)
    const notice = isSame ? { kind: 'wallet.kept', data: {} } : { kind: 'wallet.changed', data: { address, at } }
    await leaveNotice(tx, tenant, notice)
  }
  if (proved) await proveWallet(tx, tenant, address)
}
