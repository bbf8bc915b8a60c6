import type { Queryable, Tenant } from '../../db/db.ts'
import { readAgreement } from '../../db/merchants/agreement.ts'
import type { CreationRefusal } from '../../db/payments/payments.ts'
import type { Agreement, StandardAgreement } from '../../domain/account/agreement.ts'
import { formatUsdc, type MicroUsdc } from '../../domain/money.ts'
import type { Platform } from '../../domain/platform.ts'
import { Problem } from '../http/problems.ts'

export const AGREEMENT_PATH = '/dashboard/agreement'

type Refused = {
  readonly why: Exclude<CreationRefusal, 'claimed'>
  readonly agreement: StandardAgreement
  readonly publicUrl: string
  readonly platform: Pick<Platform, 'support'>
}

/** Returns why the merchant could not create a payment, and what it can do about that. */
export async function explainRefusal(db: Queryable, { merchantId }: Tenant, refused: Refused): Promise<Problem> {
  const agreement = await readAgreement(db, merchantId, refused.agreement)
  const page = `${refused.publicUrl}${AGREEMENT_PATH}`
  if (refused.why !== 'not_approved') return explainLimit(agreement, refused)
  const message = agreement.statusMessage === null ? '' : ` The operator wrote: ${agreement.statusMessage}`
  if (agreement.status === 'suspended')
    return new Problem('account_suspended', `The operator has suspended the account.${message}`, { members: { page } })
  return new Problem('account_not_approved', `${whatIsMissing(agreement, page)}${message}`, { members: { page } })
}

function whatIsMissing({ status, application }: Agreement, page: string): string {
  if (status === 'rejected') return `The operator has not approved the account. You can apply again at ${page}.`
  return application === null
    ? `Describe what you sell at ${page}, so that the operator can approve the account.`
    : 'The operator has not decided about your application yet. You receive an e-mail when that is done.'
}

function explainLimit({ limits }: Agreement, { why, platform: { support } }: Refused): Problem {
  const ask = askForMore(support)
  switch (why) {
    case 'payment_limit':
      return explainPaymentLimit(limits.paymentMicro ?? '0', support)
    case 'day_limit':
      return limit(
        `The payments that this account creates in a day (UTC) are worth at most ${formatUsdc(limits.dayMicro ?? '0')} USDC; those that end unpaid do not count. ${ask}`,
        { name: 'day_usdc', value: formatUsdc(limits.dayMicro ?? '0') },
      )
    default:
      return limit(
        `An account has at most ${limits.openPayments} open payments. Cancel those that nobody will pay, or wait until they expire; with a shorter \`expires_in\` they expire sooner. ${ask}`,
        { name: 'open_payments', value: String(limits.openPayments) },
      )
  }
}

export function explainPaymentLimit(micro: MicroUsdc, support: string | null, field = 'amount'): Problem {
  const value = formatUsdc(micro)
  const detail = `A payment can be worth at most ${value} USDC. ${askForMore(support)}`
  const errors = [{ pointer: `/${field}`, code: 'limit_reached', message: `${field}: ${detail}` }]
  const members = { limit: { name: 'payment_usdc', value } }
  return new Problem('limit_reached', detail, { param: field, errors, members })
}

const askForMore = (support: string | null): string =>
  `For a higher limit, ask the operator${support === null ? '' : ` (${support})`}.`

const limit = (detail: string, reached: { readonly name: string; readonly value: string }): Problem =>
  new Problem('limit_reached', detail, { members: { limit: reached } })
