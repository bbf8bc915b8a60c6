import { z } from 'zod'
import { listAudit } from '../../../../db/accounts/audit.ts'
import { listMembers } from '../../../../db/accounts/people.ts'
import type { Db } from '../../../../db/db.ts'
import { countByStatus, countPaidTo } from '../../../../db/merchants/overview.ts'
import { readWalletSetting, type WalletSetting } from '../../../../db/merchants/wallets.ts'
import { listPayments } from '../../../../db/payments/payment-list.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { walletProofText } from '../../../../domain/wallet.ts'
import { renderWallet } from '../../../../web/dashboard/settings/wallet.tsx'
import { renderWalletChange } from '../../../../web/dashboard/settings/wallet-change.tsx'
import type { WalletEntry, WalletShown, WalletView } from '../../../../web/dashboard/settings/wallet-view.ts'
import { nameActor } from '../../../accounts/team.ts'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { shortWallet } from '../../../links/anonymous.ts'
import { type SettingsOperationDeps, setWallet, stopWalletChange } from '../../v1/settings.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

export type WalletPageDeps = SettingsOperationDeps & { readonly db: Db; readonly clock: () => number }

const SHOWN = 4
const CHANGES: Readonly<Record<string, string>> = {
  [setWallet.name]: 'Set or planned',
  [stopWalletChange.name]: 'A change was stopped',
  'wallet.stopped': 'A change was stopped from a mail',
}
const IN_FLIGHT = ['created', 'pending', 'processing', 'under_review', 'settling'] as const

const text = z.string().max(2000).default('')

/** For the subject of a mail: with the shortened address if it is well-formed. */
export const walletChange = (address: string): string =>
  `the change of your wallet${/^0x[0-9a-fA-F]{40}$/.test(address.trim()) ? ` to ${shortWallet(address.trim())}` : ''}`

export function walletPages(deps: WalletPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/wallet',
      needs: 'look',
      handle: async (call) => ({ html: renderWallet(await readView(deps, call)) }),
    }),
    definePage({
      method: 'get',
      path: '/dashboard/wallet/change',
      needs: 'own',
      handle: async (call) => ({ html: await form(deps, call, { address: '', again: '', signature: '' }) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/wallet',
      needs: 'own',
      fresh: { what: ({ address = '' }) => walletChange(address), back: '/dashboard/wallet' },
      form: z.object({ address: text, again: text, signature: text }),
      handle: async (call) => {
        const waits = await changeWaits(call)
        const errors = await changeTo(deps, call)
        if (errors === null) return { to: '/dashboard/wallet', done: waits ? 'wallet_planned' : 'wallet_saved' }
        return { status: 400, html: await form(deps, call, { ...call.form, errors }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/wallet/stop',
      // Everybody who is notified can stop it.
      needs: 'look',
      handle: async (call) => {
        // It may have been stopped or have taken effect since the page was shown.
        const waits = (await readWalletSetting(call.db, call.tenant))?.next_at ?? null
        if (waits !== null) await runOperation(deps, call, { operation: stopWalletChange })
        return { to: '/dashboard/wallet', done: 'wallet_stopped' }
      },
    }),
  ]
}

type Draft = { readonly address: string; readonly again: string; readonly signature: string }

/** Null when done, otherwise the errors by field. */
async function changeTo(deps: WalletPageDeps, call: PageCall<Draft>): Promise<Record<string, string> | null> {
  const address = call.form.address.trim()
  const signature = call.form.signature.trim()
  const differs = difference(address, call.form.again.trim())
  if (address !== '' && differs !== null) return { again: differs }
  const body = { address, ...(signature !== '' && { signature }) }
  const set = await catchRefusal(runOperation(deps, call, { operation: setWallet, body, noted: { address } }))
  return set instanceof Problem ? toFieldErrors(set, 'address') : null
}

/** Ignores case. Null if there is no difference. */
function difference(address: string, again: string): string | null {
  const [a, b] = [address.toLowerCase(), again.toLowerCase()]
  if (a === b) return null
  if (a.length !== b.length) return `It is ${b.length} characters long here, and ${a.length} above.`
  const at = Array.from(a, (character, index) => character !== b[index]).indexOf(true)
  const which = at === a.length - 1 ? 'The last character' : `Character ${at + 1}`
  return `${which} differs: ${address[at]} above, ${again[at]} here.`
}

/** In live mode a change of a wallet that is set waits a day. */
async function changeWaits({ db, tenant }: Pick<PageCall, 'db' | 'tenant'>): Promise<boolean> {
  return tenant.livemode && (await readWalletSetting(db, tenant)) !== null
}

async function form(
  { publicUrl }: WalletPageDeps,
  { frame, db, tenant }: PageCall,
  { errors = {}, ...draft }: Draft & { readonly errors?: Record<string, string> },
): Promise<string> {
  const waits = await changeWaits({ db, tenant })
  return renderWalletChange({ frame, draft, errors, proofText: walletProofText(tenant), waits, publicUrl })
}

async function readView(deps: WalletPageDeps, { db, tenant, frame, role, inTurn }: PageCall): Promise<WalletView> {
  const page = { limit: SHOWN, after: null, before: null }
  const wallet = await readWalletSetting(db, tenant)
  const audit = await listAudit(db, tenant.merchantId, { limit: SHOWN, actions: Object.keys(CHANGES) })
  const { payouts, counts, received } = await inTurn(async (lists) => ({
    payouts: await listPayments(lists, tenant, { filters: { status: ['succeeded'] }, page }),
    counts: await countByStatus(lists, tenant),
    received: wallet === null ? 0 : await countPaidTo(lists, tenant, wallet.address),
  }))
  const members = await listMembers(deps.db, tenant.merchantId)
  const history = audit.map(({ id, at, actor, action, ip }): WalletEntry => {
    return { id, at, who: `${nameActor(members, actor)} (${ip})`, what: CHANGES[action] ?? action }
  })
  return {
    frame,
    wallet: wallet === null ? null : shown(wallet),
    received,
    payouts: (payouts?.rows ?? []).map(({ payment }) => payment),
    history,
    inFlight: IN_FLIGHT.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0),
    mayChange: hasAbility(role, 'own'),
    now: new Date(deps.clock()).toISOString(),
    publicUrl: deps.publicUrl,
  }
}

function shown({ address, created_at: since, proved, next_address, next_at, next_proved }: WalletSetting): WalletShown {
  const next =
    next_address === null || next_at === null ? null : { address: next_address, at: next_at, proved: next_proved }
  return { address, since, proved, next }
}
