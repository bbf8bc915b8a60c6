import { insertMerchant } from '../../db/merchants/merchants.ts'
import { readWalletSetting } from '../../db/merchants/wallets.ts'
import { listMerchants } from '../../db/operator/accounts.ts'
import { listActions, recordAction } from '../../db/operator/actions.ts'
import { listEndpoints } from '../../db/webhooks/webhook-endpoints.ts'
import { MERCHANT_STATUSES, type MerchantStatus } from '../../domain/account/agreement.ts'
import { nameProblem } from '../../domain/account/name.ts'
import { isSafeText, isVisible, storedText } from '../../domain/text.ts'
import { newId } from '../../ids.ts'
import { type CommandContext, readLimit, requireMerchant, sayList, signedBy, UsageError } from '../call.ts'
import { describeAct } from '../settlement-acts.ts'
import { describeAgreement, loadAgreement } from './agreement.ts'
import { readKeys } from './keys.ts'
import { describeWallet } from './wallets.ts'

const USUAL_LINES = 50
const LONGEST_NAME = 100
const SHOWN_ACTIONS = 20

export async function listAccounts(context: CommandContext): Promise<number> {
  const merchants = await listMerchants(context.db, {
    text: context.options.name,
    status: readStatus(context),
    limit: readLimit(context, USUAL_LINES),
  })
  context.give('merchants', merchants)
  return sayList(context.say, {
    none: 'no merchant',
    head: ['merchant', 'name', 'status', 'keys', 'payments', 'wallet'],
    rows: merchants.map(({ id, name, status, keys, payments, wallet }) => [id, name, status, keys, payments, wallet]),
  })
}

function readStatus({ options: { status } }: CommandContext): MerchantStatus | null {
  if (status === undefined) return null
  const known = MERCHANT_STATUSES.find((one) => one === status)
  if (known === undefined) throw new UsageError(`--status must be one of ${MERCHANT_STATUSES.join(', ')}`)
  return known
}

export async function createAccount(context: CommandContext): Promise<number> {
  const { db, settings, subjects, say, give } = context
  const signed = signedBy(context)
  const name = storedText(subjects[0] ?? '').trim()
  if (name.length > LONGEST_NAME || !isSafeText(name, 'line') || !isVisible(name))
    throw new UsageError(`the name must have 1 to ${LONGEST_NAME} visible characters: buyers see it`)
  const problem = nameProblem(name, settings.PLATFORM_NAME)
  if (problem !== null) throw new UsageError(`the name ${problem}`)
  const id = newId('merchant')
  await db.transaction(async (tx) => {
    await insertMerchant(tx, { id, name })
    const tenant = { merchantId: id, livemode: db.livemode }
    await recordAction(tx, tenant, { ...signed, kind: 'merchant.created', data: { name } })
  })
  give('merchant', { id, name })
  say(`${id}  ${name}`)
  say('Set its wallet next, then make a key: `pinrail wallets set`, `pinrail keys create`.')
  return 0
}

export async function showAccount(context: CommandContext): Promise<number> {
  const { db, say, give } = context
  const merchant = await requireMerchant(context)
  const [agreement, wallet, keys, endpoints, actions] = await Promise.all([
    loadAgreement(context, merchant.merchantId),
    readWalletSetting(db, merchant),
    readKeys(db, merchant),
    listEndpoints(db, merchant),
    listActions(db, merchant, SHOWN_ACTIONS),
  ])
  give('merchant', { id: merchant.merchantId, name: merchant.name })
  give('agreement', agreement)
  give('wallet', wallet)
  give('keys', keys)
  give(
    'webhooks',
    endpoints.map(({ secrets: _secrets, ...endpoint }) => endpoint),
  )
  give('actions', actions)
  say(`${merchant.merchantId}  ${merchant.name}`)
  for (const line of describeAgreement(agreement)) say(line)
  for (const line of describeWallet(wallet)) say(line)
  say(`keys in use: ${keys.filter(({ isInUse }) => isInUse).length} of ${keys.length}`)
  say(`webhook endpoints: ${endpoints.length}`)
  for (const action of actions) say(describeAct(action))
  return 0
}
