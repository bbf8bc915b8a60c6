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

/** Longer than a mail is looked for and its link works. */
const KEPT_MS = 3_600_000

const file = z.object({ base64: z.string() }).transform(({ base64 }) => Buffer.from(base64, 'base64'))

const asked = z.object({
  method: z.enum(['get', 'post']),
  /** The path; that of a form has no query. */
  path: z.string(),
  /** The change in words, as it follows "Confirm". */
  what: z.string(),
  /** The path for a person who does not confirm. */
  back: z.string(),
  /** The form as it was read: texts, lists of texts and files. */
  body: z.record(z.string(), z.union([z.string(), z.array(z.string()), file])),
})

/** A request of a person who must confirm first. */
export type Asked = z.output<typeof asked>

/** Keeps the request, so that it is carried out after the confirmation. Returns its id, which works in this session only. */
export async function keepAsked(
  { db, secretBox, clock }: ConfirmationDeps,
  sessionId: string,
  request: Asked,
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

/** Null: this session asked for no such thing, or too long ago. */
export async function findAsked(
  { secretBox, clock }: Omit<ConfirmationDeps, 'db'>,
  db: Queryable,
  { id, sessionId }: { readonly id: unknown; readonly sessionId: string },
): Promise<Asked | null> {
  if (typeof id !== 'string' || !/^[\w-]{22}$/.test(id)) return null
  const sealed = await findConfirmation(db, { id, sessionId, now: new Date(clock()).toISOString() })
  return sealed === null ? null : asked.parse(JSON.parse(secretBox.open(sealed, id)))
}

/** The field of a form's address that names what was confirmed. */
export const CONFIRMED = 'confirmed'

/**
 * Returns the address that follows a confirmation. With 307 the browser posts again, to the path of the form; that path then takes the form
 * which was kept, and nothing of what is posted.
 */
export function afterConfirming(
  id: string | null,
  found: Asked | null,
): { readonly status: number; readonly to: string } {
  if (id === null || found === null) return { status: 303, to: '/dashboard' }
  return found.method === 'get'
    ? { status: 303, to: found.path }
    : { status: 307, to: `${found.path}?${CONFIRMED}=${id}` }
}
