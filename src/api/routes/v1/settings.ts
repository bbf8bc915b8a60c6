import { z } from 'zod'
import type { Session, Tenant } from '../../../db/db.ts'
import { isOwnAddress, readWalletSetting, setWallet } from '../../../db/merchants/wallets.ts'
import { checkWallet } from '../../../domain/wallet.ts'
import { checksumAddress } from '../../../evm/checksum.ts'
import { WALLET_SETTING } from '../../document/examples.ts'
import { Problem } from '../../http/problems.ts'
import { defineRoute, type Route } from '../../route.ts'
import { moment } from './fields.ts'
import { requireTestKey, type StepUp } from './step-up.ts'

export type SettingsRouteDeps = StepUp & { readonly chainId: number; readonly token: string }

/** Read as any text, so that the answer can say what it seems to be instead. */
const walletBody = z.strictObject({
  address: z
    .string()
    .max(200)
    .meta({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'Mixed case must be that of EIP-55.' }),
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
  })
  .meta({ id: 'Wallet', examples: [WALLET_SETTING] })

export function settingsRoutes(deps: SettingsRouteDeps): Route[] {
  const { chainId, token } = deps

  const read = defineRoute({
    method: 'get',
    path: '/v1/settings/wallet',
    operationId: 'readWallet',
    tag: 'Settings',
    summary: 'Read the wallet that the USDC goes to',
    scope: 'settings:read',
    answers: { 200: walletObject },
    handle: async ({ caller, db }) => ({ status: 200, body: await render(db, caller) }),
  })

  const write = defineRoute({
    method: 'put',
    path: '/v1/settings/wallet',
    operationId: 'setWallet',
    tag: 'Settings',
    summary: 'Set the wallet that the USDC of later payments goes to',
    description: 'Test mode; in live mode a signed-in person does it. Payments that exist keep their destination.',
    scope: 'settings:write',
    body: walletBody,
    answers: { 200: walletObject },
    problems: ['step_up_required'],
    example: { body: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' } },
    handle: async ({ caller, db, body }) => {
      requireTestKey(deps, caller, 'wallet')
      const check = checkWallet(body.address, { checksum: checksumAddress, token })
      if (!check.ok) throw refused(check.code, check.message)
      if (await isOwnAddress(db, { chainId, address: check.address }))
        throw refused('wallet_forbidden', 'must be an address of your own: this one is ours')
      await setWallet(db, caller, check.address)
      return { status: 200, body: await render(db, caller) }
    },
  })

  return [read, write]

  async function render(db: Session, caller: Tenant): Promise<z.output<typeof walletObject>> {
    const wallet = await readWalletSetting(db, caller)
    return {
      object: 'wallet',
      livemode: caller.livemode,
      address: wallet?.address ?? null,
      chain: 'polygon',
      chain_id: chainId,
      token,
      set_at: wallet?.created_at ?? null,
    }
  }
}

function refused(code: string, reason: string): Problem {
  const message = `address: ${reason}.`
  return new Problem('validation_failed', message, {
    param: 'address',
    errors: [{ pointer: '/address', code, message }],
  })
}
