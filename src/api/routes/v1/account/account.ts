import { z } from 'zod'
import type { Session, Tenant } from '../../../../db/db.ts'
import { lockStatus, readAgreement, readUsedLimits, storeApplication } from '../../../../db/merchants/agreement.ts'
import { readShop } from '../../../../db/merchants/merchants.ts'
import { readHeldBack } from '../../../../db/reserves/releases.ts'
import { canApply, MERCHANT_STATUSES, type StandardAgreement } from '../../../../domain/account/agreement.ts'
import { formatUsdc } from '../../../../domain/money.ts'
import { isSafeText } from '../../../../domain/text.ts'
import { ACCOUNT } from '../../../document/account-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation, WHOLE } from '../../../operation.ts'
import { moment, safeText, usdcAmount } from '../fields.ts'

export type AccountDeps = { readonly agreement: StandardAgreement; readonly clock: () => number }

const accountObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('account'),
    livemode: z.boolean(),
    name: z.string(),
    status: z.enum(MERCHANT_STATUSES).meta({ description: 'Only an `approved` account takes payments.' }),
    status_message: z.string().nullable().meta({ description: 'What the operator wrote about it.' }),
    status_since: moment,
    payouts_held: z
      .boolean()
      .meta({ description: 'True while payouts wait, because the operator suspended the account with them.' }),
    application: z.strictObject({ web_address: z.string(), sells: z.string(), applied_at: moment }).nullable(),
    fee_percent: z.string().meta({ description: 'The fee of payments that are created now.' }),
    reserve: z
      .strictObject({
        percent: z.string(),
        days: z.int(),
        held_usdc: usdcAmount,
        next_release_on: z.iso.date().nullable(),
      })
      .meta({
        description:
          'What is held back of the net amount of payments that are created now, to cover chargebacks, and for how many days after the payout. `held_usdc` is what is held back of settled payments; the next part of it is released from `next_release_on` (UTC) on.',
      }),
    limits: z
      .strictObject({ payment_usdc: usdcAmount.nullable(), day_usdc: usdcAmount.nullable(), open_payments: z.int() })
      .meta({
        description:
          'What a payment, and all payments of a day (UTC), can be worth at the rate of their creation, and how many can be open at once. Null: no limit.',
      }),
    used: z
      .strictObject({ day_usdc: usdcAmount, open_payments: z.int() })
      .meta({ description: 'What of that is used. Payments that end unpaid do not count.' }),
  })
  .meta({ id: 'Account', examples: [ACCOUNT] })

async function render(
  db: Session,
  { merchantId, livemode }: Tenant,
  { agreement: standard, clock }: AccountDeps,
): Promise<z.output<typeof accountObject>> {
  const { name } = await readShop(db, merchantId)
  const agreement = await readAgreement(db, merchantId, standard)
  const used = await readUsedLimits(db, merchantId, new Date(clock()).toISOString())
  const heldBack = await readHeldBack(db, { merchantId, livemode })
  const { status, statusMessage, statusSince, holdsPayouts, application, feePercent, reserve, limits } = agreement
  return {
    id: merchantId,
    object: 'account' as const,
    livemode,
    name,
    status,
    status_message: statusMessage,
    status_since: statusSince,
    payouts_held: holdsPayouts,
    application: application && {
      web_address: application.webAddress,
      sells: application.sells,
      applied_at: application.at,
    },
    fee_percent: feePercent,
    reserve: { ...reserve, held_usdc: formatUsdc(heldBack.micro), next_release_on: heldBack.nextOn },
    limits: {
      payment_usdc: limits.paymentMicro && formatUsdc(limits.paymentMicro),
      day_usdc: limits.dayMicro && formatUsdc(limits.dayMicro),
      open_payments: limits.openPayments,
    },
    used: { day_usdc: formatUsdc(used.dayMicro), open_payments: used.openPayments },
  }
}

export const readAccount = defineOperation({
  name: 'readAccount',
  method: 'get',
  path: '/v1/account',
  tag: 'Settings',
  summary: 'Read the status, the fee and the limits of your account',
  scope: 'settings:read',
  answers: { 200: accountObject },
  handle: async ({ caller, db }, deps: AccountDeps) => ({ status: 200, body: await render(db, caller, deps) }),
})

const WHOLE_ADDRESS = 'must be the whole address of your shop, such as https://shop.example'

const applicationBody = z.strictObject({
  // An operator reads it in a terminal.
  web_address: z
    .url({ protocol: /^https?$/, error: WHOLE_ADDRESS })
    .max(500)
    .refine((text) => isSafeText(text, 'line'), WHOLE_ADDRESS),
  sells: safeText(500).meta({ description: 'What you sell, and to whom, in your words.' }),
})

export const applyForAccount = defineOperation({
  name: 'applyForAccount',
  method: 'put',
  path: '/v1/account/application',
  tag: 'Settings',
  summary: 'Describe what you sell, so that the operator can approve the account',
  description: 'A live account takes payments once the operator has approved it.',
  scope: 'settings:write',
  audited: WHOLE,
  body: applicationBody,
  answers: { 200: accountObject },
  problems: ['not_possible_now'],
  example: { body: { web_address: 'https://nightline.example', sells: 'Tickets for night trains' } },
  handle: async ({ caller, db, body }, deps: AccountDeps) => {
    await db.transaction(async (tx) => {
      const status = await lockStatus(tx, caller.merchantId)
      if (!canApply(status))
        throw new Problem('not_possible_now', 'The operator has suspended the account. Contact the operator first.')
      const at = new Date(deps.clock()).toISOString()
      await storeApplication(tx, caller.merchantId, { webAddress: body.web_address, sells: body.sells, at })
    })
    return { status: 200, body: await render(db, caller, deps) }
  },
})
