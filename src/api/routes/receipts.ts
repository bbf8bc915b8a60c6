import { Router } from 'express'
import type { Db } from '../../db/db.ts'
import { listReceiptKeys } from '../../db/receipts/receipts.ts'
import { renderVerify } from '../../web/docs/verify.tsx'
import { PAGE_HEADERS } from '../../web/page-headers.ts'
import { VERIFY_PAGE } from '../../web/proof-page.ts'
import type { DocsSite } from '../document/docs-site.ts'
import { onlyMethods } from '../route.ts'

const KEYS = '/.well-known/jwks.json'

/** Public: they need no key. */
export function receiptsRouter({ db }: { readonly db: Db }, docs: Pick<DocsSite, 'frame'>): Router {
  const router = Router()
  const page = renderVerify(docs.frame(VERIFY_PAGE, 'curl'), KEYS)
  router.get(KEYS, async (_request, response) => {
    const keys = await listReceiptKeys(db)
    response.type('application/jwk-set+json').send(JSON.stringify({ keys }))
  })
  router.get(VERIFY_PAGE, (_request, response) => {
    response.set(PAGE_HEADERS).type('html').send(page)
  })
  router.all([KEYS, VERIFY_PAGE], onlyMethods(['GET']))
  return router
}
