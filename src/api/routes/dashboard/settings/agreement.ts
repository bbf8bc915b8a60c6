import { z } from 'zod'
import { readAgreement, readUsedLimits } from '../../../../db/merchants/agreement.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { type ApplicationDraft, renderAgreement } from '../../../../web/dashboard/settings/agreement.tsx'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { AGREEMENT_PATH } from '../../../limits/agreement.ts'
import { oneLine } from '../../../links/link-form.ts'
import { type AccountDeps, applyForAccount } from '../../v1/account/account.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

export type AgreementPageDeps = AccountDeps & { readonly publicUrl: string }

const text = z.string().max(2000).default('')
const form = z.object({ web_address: text, sells: text })

export function agreementPages(deps: AgreementPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: AGREEMENT_PATH,
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, null) }),
    }),
    definePage({
      method: 'post',
      path: AGREEMENT_PATH,
      needs: 'own',
      form,
      handle: async (call) => {
        const draft = { web_address: call.form.web_address.trim(), sells: oneLine(call.form.sells) }
        const sent = await catchRefusal(runOperation(deps, call, { operation: applyForAccount, body: draft }))
        if (!(sent instanceof Problem)) return { to: AGREEMENT_PATH, done: 'application_sent' }
        return { status: 400, html: await show(deps, call, { draft, errors: toFieldErrors(sent, 'web_address') }) }
      },
    }),
  ]
}

type Wrong = { readonly draft: ApplicationDraft; readonly errors: Readonly<Record<string, string>> }

async function show(
  { agreement: standard, publicUrl, clock }: AgreementPageDeps,
  { frame, db, tenant, role }: PageCall,
  wrong: Wrong | null,
): Promise<string> {
  const agreement = await readAgreement(db, tenant.merchantId, standard)
  const used = await readUsedLimits(db, tenant.merchantId, new Date(clock()).toISOString())
  const { webAddress = '', sells = '' } = agreement.application ?? {}
  const draft = wrong?.draft ?? { web_address: webAddress, sells }
  const mayApply = hasAbility(role, 'own')
  return renderAgreement({ frame, agreement, used, draft, errors: wrong?.errors ?? {}, mayApply, publicUrl })
}
