import type { z } from 'zod'
import { writeAudit } from '../../../db/accounts/audit.ts'
import type { Session } from '../../../db/db.ts'
import { getRoleScopes } from '../../auth/role-scopes.ts'
import type { Answer } from '../../http/answer.ts'
import { changeLogged, type Entered, readCall, type Schema, type TypedOperation } from '../../operation.ts'
import type { PageCall } from './page.ts'

/** Exactly the fields of the schema: a field that it does not have is an error of the compiler too. */
type Given<Part extends string, S extends Schema, Sent> = S extends z.ZodType
  ? {
      readonly [part in Part]: Sent &
        Entered<z.input<S>> & { readonly [F in Exclude<keyof Sent, keyof z.input<S>>]: never }
    }
  : { readonly [part in Part]?: never }

type OperationRequest<D, B extends Schema, P extends Schema, O, Sent> = Given<'body', B, Sent> &
  Given<'params', P, unknown> & {
    readonly operation: TypedOperation<D, B, undefined, P, O>
    readonly once?: string
    /** Logged instead of the body. */
    readonly noted?: object
  }

/**
 * The dashboard acts through the operations of the API, so that rules, limits and words are the same. The audit log of
 * the account has what a person does. Throws a Problem if the operation refuses.
 */
export async function runOperation<D, B extends Schema, P extends Schema, O, Sent>(
  deps: NoInfer<D>,
  call: PageCall,
  request: OperationRequest<D, B, P, O, Sent>,
): Promise<O> {
  const { operation, once = null } = request
  const { params = {}, body = {}, noted = body } = request as { params?: object; body?: object; noted?: object }
  const caller = { ...call.tenant, keyId: null, scopes: getRoleScopes(call.role) }
  const handle = (db: Session): Promise<Answer<O>> =>
    operation.handle(
      readCall(operation, { caller, db, body, query: {}, params, key: once, ip: call.ip }) as never,
      deps,
    )
  const entry = {
    merchantId: call.tenant.merchantId,
    actor: call.person.id,
    action: operation.name,
    data: { ...params, ...noted },
    ip: call.ip,
  }
  if (operation.reachesOut !== true) return readBody(await changeLogged(call.db, handle, () => entry))
  // The log has it even if the response is lost.
  await writeAudit(call.db, entry)
  return readBody(await handle(call.db))
}

const readBody = <T>({ body }: Answer<T>): T => (typeof body === 'string' ? JSON.parse(body) : body) as T
