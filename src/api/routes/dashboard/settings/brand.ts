import { z } from 'zod'
import { readShop } from '../../../../db/merchants/merchants.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { type BrandDraft, renderBrand } from '../../../../web/dashboard/settings/brand.tsx'
import { isHex } from '../../../../web/kit/color.ts'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { capitalized, toFieldErrors } from '../../../http/validation.ts'
import { REFUSALS } from '../../../images/image.ts'
import { draftLink, EMPTY_DRAFT } from '../../../links/link-form.ts'
import { type PreviewDeps, renderPreview } from '../../links/preview.ts'
import { SiteProblem } from '../../site-problem.ts'
import { setBrand } from '../../v1/brand.ts'
import type { StepUp } from '../../v1/step-up.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

export type BrandPageDeps = StepUp & PreviewDeps

const text = z.string().max(1000).default('')
const form = z.object({ name: text, color: text, support_email: text })
const withLogo = form.extend({
  /** Empty if no file was chosen. */
  logo: z.instanceof(Buffer).default(Buffer.alloc(0)),
  remove_logo: z.string().max(10).optional(),
})

/** Enough for the largest picture and the other fields. */
const UPLOAD_LIMIT = '64kb'

const TOO_LARGE = '/dashboard/brand?large'

/** A wrong support address could mislead buyers, so only an owner can change it, with a fresh confirmation. */
export function brandPages(deps: BrandPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/brand',
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, null), frame: 'holds' }),
    }),
    definePage({
      method: 'get',
      path: '/dashboard/brand/preview',
      needs: 'look',
      handle: async ({ request, tenant, query, db }) => {
        const asked = form.safeParse(query)
        if (!asked.success) throw new SiteProblem('bad_request')
        const { name, color } = asked.data
        const draft = { ...EMPTY_DRAFT, title: 'October tasting box', amount: '64.00' }
        const link = draftLink(draft, { livemode: tenant.livemode, wallet: null, anonymous: false })
        const stored = await readShop(db, tenant.merchantId)
        const shop = { ...stored, name: name.slice(0, 100), brand: colorIn(color) }
        return { html: await renderPreview(deps, request, { link, shop }), frame: 'held' }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/brand',
      needs: 'own',
      fresh: { what: 'a change to your brand', back: '/dashboard/brand' },
      form: withLogo,
      upload: { tooLarge: () => TOO_LARGE, limit: UPLOAD_LIMIT },
      handle: async (call) => {
        const { name, color, support_email: email, logo, remove_logo: remove } = call.form
        const given = {
          name: name.trim(),
          color: color.trim() === '' ? null : color.trim(),
          support_email: email.trim() === '' ? null : email.trim(),
        }
        const isNew = logo.length > 0
        const picture = isNew ? { logo: logo.toString('base64') } : remove === undefined ? {} : { logo: null }
        // The log stores the size of a new picture, and not the picture.
        const noted = { ...given, ...(isNew ? { logo_bytes: logo.length } : picture) }
        const request = { operation: setBrand, body: { ...given, ...picture }, noted }
        const saved = await catchRefusal(runOperation(deps, call, request))
        if (!(saved instanceof Problem)) return { to: '/dashboard/brand', done: 'brand_saved' }
        const wrong = { draft: { name, color, support_email: email }, errors: toFieldErrors(saved, 'name') }
        return { status: 400, html: await show(deps, call, wrong), frame: 'holds' }
      },
    }),
  ]
}

function colorIn(written: string) {
  const color = written.trim().toLowerCase()
  return isHex(color) ? color : null
}

type Wrong = { readonly draft: BrandDraft; readonly errors: Readonly<Record<string, string>> }

async function show(
  { publicUrl }: BrandPageDeps,
  { frame, db, tenant, role, query }: PageCall,
  wrong: Wrong | null,
): Promise<string> {
  const shop = await readShop(db, tenant.merchantId)
  const stored = { name: shop.name, color: shop.brand ?? '', support_email: shop.supportEmail ?? '' }
  const draft = wrong?.draft ?? stored
  const tooLarge = 'large' in query && wrong === null
  return renderBrand({
    frame,
    draft,
    brand: wrong === null ? shop.brand : colorIn(draft.color),
    errors: wrong?.errors ?? (tooLarge ? { logo: capitalized(REFUSALS.too_large) } : {}),
    logo: shop.logo,
    mayChange: hasAbility(role, 'own'),
    publicUrl,
  })
}
