import { z } from 'zod'
import { readShop, type Shop, setShop } from '../../../db/merchants/merchants.ts'
import { nameProblem } from '../../../domain/account/name.ts'
import type { Platform } from '../../../domain/platform.ts'
import { isHex } from '../../../web/kit/color.ts'
import { logoPath } from '../../../web/kit/logo.tsx'
import { BRAND } from '../../document/examples.ts'
import { refuseField } from '../../http/problems.ts'
import { MOST_BYTES, REFUSALS, readPicture } from '../../images/image.ts'
import { defineOperation } from '../../operation.ts'
import { emailAddress, safeText } from './fields.ts'
import { requireTestKey, type StepUp, TEST_KEYS_ONLY } from './step-up.ts'

const HEX = /^#[0-9a-fA-F]{6}$/

const color = z
  .string()
  .regex(HEX, 'must be # and six hexadecimal digits, such as #1d5247')
  .transform((text) => text.toLowerCase())
  .refine(isHex)

export const shopName = safeText(100)

/** Throws a Problem for a name with which the account could pose as the platform or lead to a web address. */
export function checkShopName(name: string, platform: Pick<Platform, 'name'>): void {
  const must = nameProblem(name, platform.name)
  if (must !== null) throw refuseField('name', must)
}

/** `readPicture` writes the picture again before it is stored. */
const logo = z
  .string()
  .max(Math.ceil(MOST_BYTES / 3) * 4, REFUSALS.too_large)
  .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be in base64')
  .transform((text, context) => {
    const picture = readPicture(Buffer.from(text, 'base64'))
    if (picture.ok) return picture
    context.addIssue({ code: 'custom', message: REFUSALS[picture.why] })
    return z.NEVER
  })

const brandBody = z.strictObject({
  name: shopName.optional(),
  color: color
    .nullable()
    .optional()
    .meta({ description: 'Null: Pinrail’s own. Text on it always has enough contrast.' }),
  support_email: emailAddress
    .nullable()
    .optional()
    .meta({ description: 'Where buyers contact you when they need help.' }),
  logo: logo.nullable().optional().meta({
    description:
      'A PNG, JPEG or WebP picture of at most 48 KB in base64, ideally square. Null: the first letter of the name.',
  }),
})

const brandObject = z
  .strictObject({
    object: z.literal('brand'),
    name: z.string(),
    color: z.string().nullable(),
    support_email: z.string().nullable(),
    logo_url: z.string().nullable(),
  })
  .meta({ id: 'Brand', examples: [BRAND] })

export const readBrand = defineOperation({
  name: 'readBrand',
  method: 'get',
  path: '/v1/settings/brand',
  tag: 'Settings',
  summary: 'Read how buyers see you',
  scope: 'settings:read',
  answers: { 200: brandObject },
  handle: async ({ caller, db }, deps: StepUp) => ({
    status: 200,
    body: shown(deps, await readShop(db, caller.merchantId)),
  }),
})
export const setBrand = defineOperation({
  name: 'setBrand',
  method: 'patch',
  path: '/v1/settings/brand',
  tag: 'Settings',
  summary: 'Change how buyers see you',
  description: `At the checkout, on links and on receipts. ${TEST_KEYS_ONLY}`,
  scope: 'settings:write',
  // Logs only that the picture was replaced.
  audited: ({ logo, ...given }) => ({
    ...given,
    ...(logo !== undefined && { logo: logo === null ? null : 'another' }),
  }),
  body: brandBody,
  answers: { 200: brandObject },
  problems: ['step_up_required'],
  example: { body: { color: '#1d5247', support_email: 'help@shop.example' } },
  handle: async ({ caller, db, body }, deps: StepUp & { readonly platform: Pick<Platform, 'name'> }) => {
    // A leaked live key must not send buyers to another support address.
    requireTestKey(deps, caller, 'brand')
    const { name, color: brand, support_email: email, logo } = body
    if (name !== undefined) checkShopName(name, deps.platform)
    const shop = await setShop(db, caller.merchantId, {
      ...(name !== undefined && { name }),
      ...(brand !== undefined && { brand }),
      ...(email !== undefined && { supportEmail: email }),
      ...(logo !== undefined && { logo }),
    })
    return { status: 200, body: shown(deps, shop) }
  },
})

function shown({ publicUrl }: StepUp, { name, brand, supportEmail: email, logo }: Shop) {
  const logoUrl = logo === null ? null : `${publicUrl}${logoPath(logo)}`
  return { object: 'brand' as const, name, color: brand, support_email: email, logo_url: logoUrl }
}
