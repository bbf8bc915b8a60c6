import { Router } from 'express'
import type { Queryable } from '../../db/db.ts'
import { findLogo } from '../../db/merchants/merchants.ts'
import { Problem } from '../http/problems.ts'
import { onlyMethods } from '../route.ts'

const TYPES: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' }

export type LogoFile = { readonly name: string; readonly bytes: Buffer }

export type LogoDeps = {
  readonly db: Queryable
  /** The platform's own. Null without one. */
  readonly platformLogo: LogoFile | null
}

/** The logo of a merchant or of the platform. Null if there is none with the name. */
export async function readLogo({ db, platformLogo }: LogoDeps, name: string): Promise<Buffer | null> {
  return name === platformLogo?.name ? platformLogo.bytes : findLogo(db, name)
}

/**
 * A logo was written again from a picture before it was stored. As a second defence, browsers must not guess another
 * type, and run nothing if they open the logo directly.
 */
export function createLogoRouter(deps: LogoDeps): Router {
  const router = Router()
  router.get('/logos/:name', async (request, response) => {
    const name = String(request.params['name'])
    const body = /^[0-9a-f]{32}\.(?:png|jpg|webp)$/.test(name) ? await readLogo(deps, name) : null
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
