import { z } from 'zod'
import {
  MOST_FEE_PERCENT,
  MOST_RESERVE_DAYS,
  MOST_RESERVE_PERCENT,
  SIGN_UPS,
  type SignUp,
  type StandardAgreement,
} from '../domain/account/agreement.ts'
import { convertWholeUsdc, type MicroUsdc, readPercent } from '../domain/money.ts'
import { flag } from './fields.ts'

const usdc = z.coerce.number().int().min(1).max(1_000_000_000)
const percent = (most: number) =>
  z.string().transform((text, context) => {
    const read = readPercent(text, most)
    if (read !== null) return read
    context.addIssue(`must be a percentage from 0 to ${most} with at most two decimals, such as 4.5`)
    return z.NEVER
  })

/** Variables about merchants, for the api and for the commands about merchants. */
export const agreementShape = {
  /**
   * The fee in percent of the converted USDC, for a merchant with which no other fee is agreed. A payment keeps the fee
   * with which it was created.
   */
  FEE_PERCENT: percent(MOST_FEE_PERCENT).default('4.5'),
  /**
   * The share of each payment's USDC after the fee that is held back for chargebacks, in percent, for a merchant with
   * which nothing else is agreed. A payment keeps the reserve with which it was created.
   */
  RESERVE_PERCENT: percent(MOST_RESERVE_PERCENT).default('0'),
  /** For how many days after the payout it is held back. A timer then pays it out, once a day. */
  RESERVE_DAYS: z.coerce.number().int().min(1).max(MOST_RESERVE_DAYS).default(90),
  /** Whole USDC that one payment can be worth, for a merchant with which nothing else is agreed. Default: no limit. */
  PAYMENT_LIMIT_USDC: usdc.optional(),
  /** Whole USDC that all payments of a merchant from one day (UTC) can be worth together. Default: no limit. */
  DAY_LIMIT_USDC: usdc.optional(),
  /**
   * Payments of a merchant that can be open at once. Default: 100,000 in live mode and 10,000 in test mode. More get
   * 409.
   */
  OPEN_PAYMENTS: z.coerce.number().int().min(2).optional(),
}

export const signUpShape = {
  /** The people who can create an account: `open`, `invited` or `closed`. Default: `closed` in live mode, `open` in test mode. */
  SIGN_UP: z.enum(SIGN_UPS).optional(),
  /**
   * If false, only accounts can create payment links. Existing links without an account are closed until an account
   * claims them. Default: true in test mode, and false in live mode, because such links need no approval.
   */
  LINKS_WITHOUT_ACCOUNT: flag.optional(),
}

export const readSignUp = (config: Mode & { readonly SIGN_UP?: SignUp | undefined }): SignUp =>
  config.SIGN_UP ?? (config.PINRAIL_MODE === 'live' ? 'closed' : 'open')

type LinkSetting = { readonly LINKS_WITHOUT_ACCOUNT?: boolean | undefined }

export const readLinksWithoutAccount = (config: Mode & LinkSetting): boolean =>
  config.LINKS_WITHOUT_ACCOUNT ?? config.PINRAIL_MODE === 'test'

const agreementSchema = z.object(agreementShape)

type Mode = { readonly PINRAIL_MODE: 'test' | 'live' }

export const readStandardAgreement = (config: z.infer<typeof agreementSchema> & Mode): StandardAgreement => ({
  feePercent: config.FEE_PERCENT,
  reserve: { percent: config.RESERVE_PERCENT, days: config.RESERVE_DAYS },
  limits: {
    paymentMicro: toMicro(config.PAYMENT_LIMIT_USDC),
    dayMicro: toMicro(config.DAY_LIMIT_USDC),
    openPayments: config.OPEN_PAYMENTS ?? (config.PINRAIL_MODE === 'live' ? 100_000 : 10_000),
  },
})

const toMicro = (usdc: number | undefined): MicroUsdc | null => (usdc === undefined ? null : convertWholeUsdc(usdc))
