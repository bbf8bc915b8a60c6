import { writeAudit } from '../../../db/accounts/audit.ts'
import type { Session as DbSession, Tx } from '../../../db/db.ts'
import { API_SCOPES } from '../../auth/api-key.ts'
import { explain, mustBe } from '../../http/validation.ts'
import type { Route } from '../../route.ts'
import type { PageCall } from './page.ts'

/**
 * The dashboard does what it does through the routes of the API, so that rules, limits and words are the same. What a
 * person does is written to the audit log of the account.
 */
export type WithRoutes = { readonly routes: readonly Route[] }

export type Asked = {
  /** The operation's id in the OpenAPI document. */
  readonly name: string
  readonly params?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
}

type Answered = { readonly status: number; readonly body: Record<string, unknown> }

/** Asks a route that waits for something outside. It is in the log even when the answer is lost. */
export async function act(deps: WithRoutes, call: PageCall, asked: Asked): Promise<Answered> {
  await note(call.db, call, asked)
  return handle(routeOf(deps, asked.name), { call, db: call.db, asked })
}

function routeOf({ routes }: WithRoutes, name: string): Route {
  const route = routes.find(({ operationId }) => operationId === name)
  if (route === undefined) throw new Error(`there is no operation ${name}`)
  return route
}

async function handle(route: Route, { call, db, asked }: { call: PageCall; db: DbSession; asked: Asked }) {
  const { params = {}, body = {}, query = {} } = asked
  const parsed = (schema: Route['body'], value: unknown, where: 'body' | 'query' | 'path'): unknown => {
    if (schema === undefined) return undefined
    const result = schema.safeParse(value, { error: mustBe })
    if (result.success) return result.data
    throw explain(result.error, { schema, where, value })
  }
  const answer = await route.handle({
    caller: { ...call.tenant, keyId: null, scopes: API_SCOPES },
    db,
    body: parsed(route.body, body, 'body'),
    query: parsed(route.query, query, 'query'),
    params: parsed(route.params, params, 'path'),
    idempotencyKey: null,
  })
  const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
  return { status: answer.status, body: JSON.parse(text) as Record<string, unknown> }
}

async function note(db: DbSession | Tx, { tenant, person, ip }: PageCall, asked: Asked): Promise<void> {
  const { name: action, params = {}, body = {} } = asked
  const data = { ...params, ...(typeof body === 'object' ? body : {}) }
  await writeAudit(db, { merchantId: tenant.merchantId, actor: person.id, action, data, ip })
}
