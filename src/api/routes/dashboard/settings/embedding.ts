import { z } from 'zod'
import { readEmbedding } from '../../../../db/merchants/embedding.ts'
import { readOrigin } from '../../../../domain/account/origin.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { EMBED_SCRIPT } from '../../../../web/assets.ts'
import { renderEmbedding } from '../../../../web/dashboard/settings/embedding.tsx'
import { Problem } from '../../../http/problems.ts'
import { change, toFieldErrors, type WithRoutes } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'

export type EmbeddingPageDeps = WithRoutes & { readonly publicUrl: string }

const form = z.object({ origins: z.string().max(4000).default('') })

export function embeddingPages(deps: EmbeddingPageDeps): Page[] {
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
        try {
          await change(deps, call, { name: 'setEmbedding', body: { origins } })
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          return { status: 400, html: await show(deps, call, { written, errors: toFieldErrors(error, 'origins') }) }
        }
        return { to: '/dashboard/embedding', done: 'embedding_saved' }
      },
    }),
  ]
}

type Wrong = { readonly written: string; readonly errors: Readonly<Record<string, string>> }

async function show(
  { publicUrl }: EmbeddingPageDeps,
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
