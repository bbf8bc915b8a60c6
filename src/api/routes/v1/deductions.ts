import { z } from 'zod'
import { readDeductionLimit, setDeductionLimit } from '../../../db/refunds/deductions.ts'
import { convertWholeUsdc, formatUsdc, type MicroUsdc } from '../../../domain/money.ts'
import { MOST_DEDUCTED_MICRO } from '../../../domain/refund/deduction.ts'
import { defineOperation } from '../../operation.ts'
import { usdcAmount } from './fields.ts'
import { requireTestKey, type StepUp, TEST_KEYS_ONLY } from './step-up.ts'

/** How much of the next payouts refunds can take: the consent of an owner, which is off until it is given. */

const MOST_USDC = Number(MOST_DEDUCTED_MICRO / 1_000_000n)

const deductionsBody = z.strictObject({
  limit_usdc: z
    .int()
    .min(1)
    .max(MOST_USDC)
    .nullable()
    .meta({ description: 'In whole USDC. Null: payouts pay for no more refunds; those that are open continue.' }),
})

const deductionsObject = z
  .strictObject({
    object: z.literal('deductions'),
    limit_usdc: usdcAmount.nullable().meta({
      description:
        'What open refunds with `fund_from: next_payouts` can require together, in each mode. Null: none can be created.',
    }),
  })
  .meta({ id: 'Deductions', examples: [{ object: 'deductions', limit_usdc: '500.000000' }] })

export const readDeductions = defineOperation({
  name: 'readDeductions',
  method: 'get',
  path: '/v1/settings/deductions',
  tag: 'Settings',
  summary: 'Read how much of your payouts refunds can take',
  scope: 'settings:read',
  answers: { 200: deductionsObject },
  handle: async ({ caller, db }) => ({ status: 200, body: shown(await readDeductionLimit(db, caller.merchantId)) }),
})

export const setDeductions = defineOperation({
  name: 'setDeductions',
  method: 'put',
  path: '/v1/settings/deductions',
  tag: 'Settings',
  summary: 'Set how much of your payouts refunds can take',
  description: `${TEST_KEYS_ONLY} It is off until an owner sets a limit.`,
  scope: 'settings:write',
  audited: ({ limit_usdc: limit }) => ({ limit_usdc: limit }),
  body: deductionsBody,
  answers: { 200: deductionsObject },
  problems: ['step_up_required'],
  example: { body: { limit_usdc: 500 } },
  handle: async ({ caller, db, body }, deps: StepUp) => {
    // A leaked live key must not have payouts pay for refunds.
    requireTestKey(deps, caller, 'deductions')
    const micro = body.limit_usdc === null ? null : convertWholeUsdc(body.limit_usdc)
    await setDeductionLimit(db, caller.merchantId, micro)
    return { status: 200, body: shown(micro) }
  },
})

const shown = (micro: MicroUsdc | null) => ({
  object: 'deductions' as const,
  limit_usdc: micro === null ? null : formatUsdc(micro),
})
