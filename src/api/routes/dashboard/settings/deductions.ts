import { z } from 'zod'
import { readDeductionLimit } from '../../../../db/refunds/deductions.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { renderDeductions } from '../../../../web/dashboard/settings/deductions.tsx'
import { catchRefusal, Problem, refuseField } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { setDeductions } from '../../v1/deductions.ts'
import type { StepUp } from '../../v1/step-up.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

const PATH = '/dashboard/deductions'

export function deductionPages(deps: StepUp): Page[] {
  return [
    definePage({
      method: 'get',
      path: PATH,
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, null) }),
    }),
    definePage({
      method: 'post',
      path: PATH,
      needs: 'own',
      fresh: { what: 'how much of your payouts refunds can take', back: PATH },
      form: z.object({ limit_usdc: z.string().max(40).default('') }),
      handle: async (call) => {
        const written = call.form.limit_usdc.trim()
        const saved = await catchRefusal(save(deps, call, written))
        if (!(saved instanceof Problem)) return { to: PATH, done: 'deductions_saved' }
        return { status: 400, html: await show(deps, call, { written, errors: toFieldErrors(saved, 'limit_usdc') }) }
      },
    }),
  ]
}

async function save(deps: StepUp, call: PageCall, written: string) {
  if (!/^\d{0,5}$/.test(written)) throw refuseField('limit_usdc', 'must be whole USDC, at most 10000, or empty')
  const body = { limit_usdc: written === '' || Number(written) === 0 ? null : Number(written) }
  return runOperation(deps, call, { operation: setDeductions, body })
}

type Wrong = { readonly written: string; readonly errors: Readonly<Record<string, string>> }

async function show(
  { publicUrl }: StepUp,
  { frame, db, tenant, role }: PageCall,
  wrong: Wrong | null,
): Promise<string> {
  return renderDeductions({
    frame,
    limit: await readDeductionLimit(db, tenant.merchantId),
    written: wrong?.written ?? null,
    errors: wrong?.errors ?? {},
    mayChange: hasAbility(role, 'own'),
    publicUrl,
  })
}
