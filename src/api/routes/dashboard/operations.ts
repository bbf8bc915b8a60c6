import { writeAudit } from '../../../db/accounts/audit.ts'
import type { Session as DbSession, Tx } from '../../../db/db.ts'
import { getRoleScopes } from '../../auth/role-scopes.ts'
import type { Problem } from '../../http/problems.ts'
import { explain, mustBe } from '../../http/validation.ts'
import type { Route } from '../../route.ts'
import type { PageCall } from './page.ts'

/**
 * The dashboard acts through the routes of the API, so that rules, limits and words are the same. The audit log of the
 * account has what a person does.
 */
export type WithRoutes = { readonly routes: readonly Route[] }

export type OperationRequest = {
  readonly name: string
  readonly params?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
  /** A form that is sent again with this idempotency key gets the first response. */
  readonly once?: string
  /** Logged instead of the body. */
  readonly noted?: object
}

type Answered = {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly isReplay: boolean
}

/** For a route that waits for something outside the database. The log has it even if the response is lost. */
export async function act(deps: WithRoutes, call: PageCall, asked: OperationRequest): Promise<Answered> {
  await note(call.db, call, asked)
  return handle(findRoute(deps, asked.name), { call, db: call.db, asked })
}

/** For a route whose work is in the database. The change and its log entry are one transaction. */
export function change(deps: WithRoutes, call: PageCall, asked: OperationRequest): Promise<Answered> {
  return call.db.transaction(async (tx) => {
    const answered = await handle(findRoute(deps, asked.name), { call, db: joining(tx), asked })
    if (!answered.isReplay) await note(tx, call, asked)
    return answered
  })
}

function joining(tx: Tx): DbSession {
  return { livemode: tx.livemode, query: (text, values) => tx.query(text, values), transaction: (work) => work(tx) }
}

/** Errors by field of the form. `other` gets an error without a field. */
export function toFieldErrors(problem: Problem, other: string): Record<string, string> {
  const { errors = [] } = problem.extras
  if (errors.length === 0) return { [other]: problem.message }
  return Object.fromEntries(
    errors.toReversed().map(({ pointer, message }) => {
      const text = message.replace(/^[\w.]+: /, '')
      return [pointer.split('/')[1] ?? other, capitalized(text)]
    }),
  )
}

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function findRoute({ routes }: WithRoutes, name: string): Route {
  const route = routes.find(({ operationId }) => operationId === name)
  if (route === undefined) throw new Error(`there is no operation ${name}`)
  return route
}

async function handle(
  route: Route,
  { call, db, asked }: { call: PageCall; db: DbSession; asked: OperationRequest },
): Promise<Answered> {
  const { params = {}, body = {}, query = {} } = asked
  const parsed = (schema: Route['body'], value: unknown, where: 'body' | 'query' | 'path'): unknown => {
    if (schema === undefined) return undefined
    const result = schema.safeParse(value, { error: mustBe })
    if (result.success) return result.data
    throw explain(result.error, { schema, where, value })
  }
  const answer = await route.handle({
    caller: { ...call.tenant, keyId: null, scopes: getRoleScopes(call.role) },
    db,
    body: parsed(route.body, body, 'body'),
    query: parsed(route.query, query, 'query'),
    params: parsed(route.params, params, 'path'),
    idempotencyKey: asked.once ?? null,
    ip: call.ip,
  })
  const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
  const isReplay = answer.headers?.['idempotent-replayed'] === 'true'
  return { status: answer.status, body: JSON.parse(text) as Record<string, unknown>, isReplay }
}

async function note(db: DbSession | Tx, { tenant, person, ip }: PageCall, asked: OperationRequest): Promise<void> {
  const { name: action, params = {}, body = {}, noted = body } = asked
  const data = { ...params, ...(typeof noted === 'object' ? noted : {}) }
  await writeAudit(db, { merchantId: tenant.merchantId, actor: person.id, action, data, ip })
}
