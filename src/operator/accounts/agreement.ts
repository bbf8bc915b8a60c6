import { readStandardAgreement } from '../../config/agreement.ts'
import { leaveNotice } from '../../db/accounts/account-notices.ts'
import { lockStatus, readAgreement, setFee, setLimits, setReserve, setStatus } from '../../db/merchants/agreement.ts'
import { insertMerchantInvitation } from '../../db/merchants/merchant-invitations.ts'
import { recordAction } from '../../db/operator/actions.ts'
import {
  type Agreement,
  decideStatus,
  MERCHANT_INVITED_MS,
  type MerchantStatus,
  MOST_FEE_PERCENT,
  MOST_RESERVE_DAYS,
  MOST_RESERVE_PERCENT,
  type OperatorAct,
} from '../../domain/account/agreement.ts'
import { readEmail } from '../../domain/account/email.ts'
import { convertWholeUsdc, formatUsdc, readPercent } from '../../domain/money.ts'
import { plural } from '../../domain/plural.ts'
import { isSafeText, storedText } from '../../domain/text.ts'
import { type CommandContext, Refusal, requireMerchant, signedBy, UsageError } from '../call.ts'

export const loadAgreement = (context: CommandContext, merchantId: string): Promise<Agreement> =>
  readAgreement(context.db, merchantId, readStandardAgreement(context.settings))

export function describeAgreement({
  status,
  statusMessage,
  statusSince,
  holdsPayouts,
  application,
  feePercent,
  reserve,
  limits,
}: Agreement): string[] {
  const { webAddress, sells, at } = application ?? {}
  return [
    `${status} since ${statusSince}${holdsPayouts ? ', with its payouts' : ''}${statusMessage === null ? '' : `; the merchant reads: ${statusMessage}`}`,
    application === null ? 'no application' : `applied ${at}: ${webAddress} sells: ${sells}`,
    `fee: ${feePercent}%`,
    `reserve: ${reserve.percent}% for ${plural(reserve.days, 'day')}`,
    `limits: ${describeUsdc(limits.paymentMicro)} a payment, ${describeUsdc(limits.dayMicro)} a day, ${limits.openPayments} payments open at once`,
  ]
}

const describeUsdc = (micro: string | null): string => (micro === null ? 'any amount' : `${formatUsdc(micro)} USDC`)

async function sayAgreement(context: CommandContext, merchantId: string): Promise<void> {
  const agreement = await loadAgreement(context, merchantId)
  context.give('agreement', agreement)
  for (const line of describeAgreement(agreement)) context.say(line)
}

/** Takes back what was agreed with the merchant: the configuration of the deployment counts again. */
const STANDARD = 'standard'

/** Payments that exist keep their fee. */
export async function changeFee(context: CommandContext): Promise<number> {
  const { db, subjects, say } = context
  const signed = signedBy(context)
  const merchant = await requireMerchant(context)
  const text = subjects[1] ?? ''
  const fee = text === STANDARD ? null : readPercent(text, MOST_FEE_PERCENT)
  if (fee === null && text !== STANDARD)
    throw new UsageError(
      `the fee must be a percentage from 0 to ${MOST_FEE_PERCENT} with at most two decimals, such as 4.5, or \`${STANDARD}\``,
    )
  await db.transaction(async (tx) => {
    await setFee(tx, merchant.merchantId, fee)
    await recordAction(tx, merchant, { ...signed, kind: 'merchant.fee_changed', data: { fee_percent: fee } })
  })
  say('payments that are created from now on have this fee:')
  await sayAgreement(context, merchant.merchantId)
  return 0
}

/** Payments that exist keep their reserve. */
export async function changeReserve(context: CommandContext): Promise<number> {
  const { db, say, options } = context
  const signed = signedBy(context)
  const merchant = await requireMerchant(context)
  const { percent: written, days: writtenDays } = options
  if (written === undefined && writtenDays === undefined) throw new UsageError('give --percent or --days')
  const percent = written === undefined || written === STANDARD ? null : readPercent(written, MOST_RESERVE_PERCENT)
  if (percent === null && written !== undefined && written !== STANDARD)
    throw new UsageError(
      `--percent must be a percentage from 0 to ${MOST_RESERVE_PERCENT} with at most two decimals, such as 10, or \`${STANDARD}\``,
    )
  const days = writtenDays === undefined || writtenDays === STANDARD ? null : Number(writtenDays)
  if (days !== null && (!/^[1-9]\d{0,2}$/.test(writtenDays ?? '') || days > MOST_RESERVE_DAYS))
    throw new UsageError(`--days must be a whole number from 1 to ${MOST_RESERVE_DAYS}, or \`${STANDARD}\``)
  const reserve = { ...(written !== undefined && { percent }), ...(writtenDays !== undefined && { days }) }
  await db.transaction(async (tx) => {
    await setReserve(tx, merchant.merchantId, reserve)
    await recordAction(tx, merchant, { ...signed, kind: 'merchant.reserve_changed', data: reserve })
  })
  say('payments that are created from now on have this reserve:')
  await sayAgreement(context, merchant.merchantId)
  return 0
}

/** Payments that exist stay, even beyond a lower limit. */
export async function changeLimits(context: CommandContext): Promise<number> {
  const { db, options } = context
  const signed = signedBy(context)
  const merchant = await requireMerchant(context)
  const [payment, day, open] = (['payment', 'day', 'open'] as const).map((name) => readLimitOption(name, options[name]))
  const limits = {
    ...(payment !== undefined && { paymentMicro: payment === null ? null : convertWholeUsdc(Number(payment)) }),
    ...(day !== undefined && { dayMicro: day === null ? null : convertWholeUsdc(Number(day)) }),
    ...(open !== undefined && { openPayments: open === null ? null : Number(open) }),
  }
  if (Object.keys(limits).length === 0) throw new UsageError('give --payment, --day or --open')
  await db.transaction(async (tx) => {
    await setLimits(tx, merchant.merchantId, limits)
    await recordAction(tx, merchant, { ...signed, kind: 'merchant.limits_changed', data: { payment, day, open } })
  })
  await sayAgreement(context, merchant.merchantId)
  return 0
}

/** Null: as the deployment. Undefined: as before. */
function readLimitOption(name: 'payment' | 'day' | 'open', text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text === STANDARD) return null
  const least = name === 'open' ? 2 : 1
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) >= least) return text
  throw new UsageError(`--${name} must be a whole number from ${least} to 999999999, or \`${STANDARD}\``)
}

const INVITED_DAYS = MERCHANT_INVITED_MS / 86_400_000

export async function inviteMerchant(context: CommandContext): Promise<number> {
  const { db, settings, subjects, say, give } = context
  const signed = signedBy(context)
  const email = readEmail(subjects[0] ?? '')
  if (email === null) throw new UsageError('the address must be a whole e-mail address, such as you@shop.example')
  const expiresAt = new Date(Date.now() + MERCHANT_INVITED_MS).toISOString()
  await db.transaction(async (tx) => {
    await insertMerchantInvitation(tx, { email, expiresAt })
    const whole = { merchantId: null, livemode: db.livemode }
    await recordAction(tx, whole, { ...signed, kind: 'merchant.invited', data: { email, expires_at: expiresAt } })
  })
  const url = `${settings.PUBLIC_URL}/sign-in?to=${encodeURIComponent('/dashboard/welcome')}`
  give('invitation', { email, url, expiresAt })
  say(`${email} can create one account within ${INVITED_DAYS} days, by signing in with this address:`)
  say(url)
  return 0
}

const LONGEST_MESSAGE = 500

function readMessage({ options }: CommandContext): string | null {
  const message = storedText(options.message ?? '').trim()
  if (message.length > LONGEST_MESSAGE || !isSafeText(message, 'line'))
    throw new UsageError(`--message must be one line of at most ${LONGEST_MESSAGE} characters: the merchant reads it`)
  return message === '' ? null : message
}

export const approveMerchant = (context: CommandContext): Promise<number> => decide(context, 'approve')
export const rejectMerchant = (context: CommandContext): Promise<number> => decide(context, 'reject')
export const suspendMerchant = (context: CommandContext): Promise<number> => decide(context, 'suspend')
export const resumeMerchant = (context: CommandContext): Promise<number> => decide(context, 'resume')

/** Null: as before. A payout cannot be called back, so only an option releases it. */
function readHold({ options }: CommandContext): boolean | null {
  const [hold, release] = [options['hold-payouts'] === true, options['release-payouts'] === true]
  if (hold && release) throw new UsageError('give --hold-payouts or --release-payouts, not both')
  return hold === release ? null : hold
}

const DONE: Readonly<Record<OperatorAct, string>> = {
  approve: 'approved',
  reject: 'rejected',
  suspend: 'suspended',
  resume: 'resumed',
}

/** The merchant reads the message, and never the operator's name and reason. */
async function decide(context: CommandContext, act: OperatorAct): Promise<number> {
  const signed = signedBy(context)
  const message = readMessage(context)
  const asked = act === 'suspend' ? readHold(context) : false
  const merchant = await requireMerchant(context)
  const before = await context.db.transaction(async (tx): Promise<MerchantStatus> => {
    const before = await lockStatus(tx, merchant.merchantId)
    const status = decideStatus(before, act)
    if (status === null) throw new Refusal(`${merchant.name} is ${before}: nothing was changed`)
    const holdsPayouts = await setStatus(tx, merchant.merchantId, { status, message, holdsPayouts: asked })
    const data = { message, holds_payouts: holdsPayouts }
    await recordAction(tx, merchant, { ...signed, kind: `merchant.${DONE[act]}`, data: { from: before, ...data } })
    await leaveNotice(tx, merchant, { kind: `account.${DONE[act]}`, data })
    return before
  })
  context.say(`${merchant.name} was ${before} and is now ${DONE[act]}`)
  await sayAgreement(context, merchant.merchantId)
  return 0
}
