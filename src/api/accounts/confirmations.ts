import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { findConfirmation, insertConfirmation } from '../../db/accounts/confirmations.ts'
import type { Db, Queryable } from '../../db/db.ts'
import type { SecretBox } from '../../webhooks/secret-box.ts'

export type ConfirmationDeps = {
  readonly db: Db
  readonly secretBox: SecretBox
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** Longer than the link in the mail works. */
const KEPT_MS = 3_600_000

const file = z.object({ base64: z.string() }).transform(({ base64 }) => Buffer.from(base64, 'base64'))

const askedSchema = z.object({
  method: z.enum(['get', 'post']),
  /** The path. The path of a form has no query. */
  path: z.string(),
  what: z.string(),
  /** The path for a person who does not confirm. */
  back: z.string(),
  /** The form as it was read: texts, lists of texts and files. */
  body: z.record(z.string(), z.union([z.string(), z.array(z.string()), file])),
})

export type ConfirmableRequest = z.output<typeof askedSchema>

/** Returns the id of the stored request, which works only in this session. */
export async function storeConfirmableRequest(
  { db, secretBox, clock }: ConfirmationDeps,
  sessionId: string,
  request: ConfirmableRequest,
): Promise<string> {
  const id = randomBytes(16).toString('base64url')
  const body = Object.entries(request.body).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? { base64: value.toString('base64') } : value,
  ])
  const sealed = secretBox.seal(JSON.stringify({ ...request, body: Object.fromEntries(body) }), id)
  const [now, expiresAt] = [clock(), clock() + KEPT_MS].map((ms) => new Date(ms).toISOString()) as [string, string]
  await db.transaction((tx) => insertConfirmation(tx, { id, sessionId, sealed, now, expiresAt }))
  return id
}

/** Returns null if this session made no such request, or if it has expired. */
export async function findConfirmableRequest(
  { secretBox, clock }: Omit<ConfirmationDeps, 'db'>,
  db: Queryable,
  { id, sessionId }: { readonly id: unknown; readonly sessionId: string },
): Promise<ConfirmableRequest | null> {
  if (typeof id !== 'string' || !/^[\w-]{22}$/.test(id)) return null
  const sealed = await findConfirmation(db, { id, sessionId, now: new Date(clock()).toISOString() })
  return sealed === null ? null : askedSchema.parse(JSON.parse(secretBox.open(sealed, id)))
}

export const CONFIRMED = 'confirmed'

/** Returns the next URL. With 307 the browser posts again to the form's path, which then reads only the stored form. */
export function afterConfirming(
  id: string | null,
  found: ConfirmableRequest | null,
): { readonly status: number; readonly to: string } {
  if (id === null || found === null) return { status: 303, to: '/dashboard' }
  return found.method === 'get'
    ? { status: 303, to: found.path }
    : { status: 307, to: `${found.path}?${CONFIRMED}=${id}` }
}
