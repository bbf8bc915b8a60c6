import { Router } from 'express'
import type { Queryable } from '../../db/db.ts'
import { findLogo } from '../../db/merchants/merchants.ts'
import { Problem } from '../http/problems.ts'
import { onlyMethods } from '../route.ts'

const TYPES: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' }

/**
 * A logo was written again from a picture before it was stored. As a second defence, browsers must not guess another
 * type, and run nothing if they open the logo directly.
 */
export function createLogoRouter({ db }: { readonly db: Queryable }): Router {
  const router = Router()
  router.get('/logos/:name', async (request, response) => {
    const name = String(request.params['name'])
    const body = /^[0-9a-f]{32}\.(?:png|jpg|webp)$/.test(name) ? await findLogo(db, name) : null
    if (body === null) throw new Problem('resource_missing', 'There is no such logo.')
    response.set({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': TYPES[name.split('.')[1] ?? ''],
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
    })
    response.send(body)
  })
  router.all('/logos/:name', onlyMethods(['GET']))
  return router
}
