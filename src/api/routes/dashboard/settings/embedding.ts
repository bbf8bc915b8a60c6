import { z } from 'zod'
import { readEmbedding } from '../../../../db/merchants/embedding.ts'
import { readOrigin } from '../../../../domain/account/origin.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { EMBED_SCRIPT } from '../../../../web/assets.ts'
import { renderEmbedding } from '../../../../web/dashboard/settings/embedding.tsx'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { setEmbedding } from '../../v1/embedding.ts'
import type { StepUp } from '../../v1/step-up.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

const form = z.object({ origins: z.string().max(4000).default('') })

export function embeddingPages(deps: StepUp): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/embedding',
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, null) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/embedding',
      needs: 'develop',
      fresh: { what: 'a change to the sites that can embed your checkout', back: '/dashboard/embedding' },
      form,
      handle: async (call) => {
        const written = call.form.origins
        // A person may paste the whole URL of a page.
        const lines = written.split(/\s+/).filter((line) => line !== '')
        const origins = lines.map((line) => readOrigin(line, call.tenant) ?? line)
        const saved = await catchRefusal(runOperation(deps, call, { operation: setEmbedding, body: { origins } }))
        if (!(saved instanceof Problem)) return { to: '/dashboard/embedding', done: 'embedding_saved' }
        return { status: 400, html: await show(deps, call, { written, errors: toFieldErrors(saved, 'origins') }) }
      },
    }),
  ]
}

type Wrong = { readonly written: string; readonly errors: Readonly<Record<string, string>> }

async function show(
  { publicUrl }: StepUp,
  { frame, db, tenant, role }: PageCall,
  wrong: Wrong | null,
): Promise<string> {
  const origins = await readEmbedding(db, tenant.merchantId)
  return renderEmbedding({
    frame,
    origins,
    written: wrong?.written ?? origins.join('\n'),
    errors: wrong?.errors ?? {},
    mayChange: hasAbility(role, 'develop'),
    publicUrl,
    script: EMBED_SCRIPT,
  })
}
