import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response, Router } from 'express'
import { z } from 'zod'
import { writeAudit } from '../db/accounts/audit.ts'
import { type Db, type Session, sessionIn } from '../db/db.ts'
import type { ApiScope } from './auth/api-key.ts'
import type { Authenticate, Caller } from './auth/auth.ts'
import type { Answer } from './http/answer.ts'
import { answerAhead, createClaim } from './http/idempotency.ts'
import { readJson } from './http/json-body.ts'
import { type ProblemCode } from './http/problem-codes.ts'
import { Problem } from './http/problems.ts'
import { noteAnswer, noteCaller } from './http/request-log.ts'
import { explain, mustBe } from './http/validation.ts'
import type { RequestLimits } from './limits/request-limits.ts'
import type { Turns } from './limits/turns.ts'

export const TAGS = {
  Payments: 'Charge a buyer, follow the payment.',
  'Payment links': 'A page that creates a payment each time a buyer presses Continue.',
  Methods: 'Methods, where they are available, and what you would receive.',
  Events: 'Events of the last 90 days, as a list.',
  Webhooks: 'Endpoints, deliveries and redeliveries.',
  'API keys': 'API keys for your programs.',
  Settings: 'Where the USDC goes, and how buyers see you.',
  Notifications: 'Who is notified by e-mail and in chats.',
  Team: 'People of the account, and the audit log.',
  Exports: 'Files for bookkeeping.',
  'Test mode': 'Act as the buyer and the partner.',
} as const

/** The router, the OpenAPI document and the tests read the same list of routes. */
export type Route = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
  readonly operationId: string
  readonly tag: keyof typeof TAGS
  readonly summary: string
  readonly description?: string
  readonly scope: ApiScope
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  readonly params?: z.ZodType
  readonly answers: Readonly<Record<number, z.ZodType>>
  /** The schema of the CSV, if the response is a file. `answers` describes its JSON. */
  readonly csv?: z.ZodType
  readonly problems?: readonly ProblemCode[]
  /**
   * `itself`: in one transaction with its effect. Otherwise the router stores the response after the effect, which must
   * be safe to repeat and must contain no secret.
   */
  readonly idempotency?: 'itself'
  /** The logged part of the request. Without it, requests by key are not logged. The dashboard logs what people do. */
  readonly audited?: (body: never, query: never) => object
  /** Its effect is not only in the database, so it is logged afterwards and not in one transaction. */
  readonly reachesOut?: true
  /** A request that works. The reference shows it, and a test sends it. */
  readonly example?: {
    readonly body?: object
    readonly query?: Readonly<Record<string, string>>
    /** By default the example of the response's schema. */
    readonly answer?: object
  }
  handle(call: Call): Promise<Answer>
}

export type Call = {
  readonly caller: Caller
  readonly db: Session
  readonly body: unknown
  readonly query: unknown
  readonly params: unknown
  readonly idempotencyKey: string | null
  readonly ip: string
}

export const WHOLE = (body: object): object => body
/** Logs nothing of the body: the path says enough. */
export const NOTHING = (): object => ({})

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined

export function defineRoute<
  B extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  P extends z.ZodType | undefined,
>(
  route: Omit<Route, 'handle' | 'body' | 'query' | 'params'> & {
    body?: B
    query?: Q
    params?: P
    handle(
      call: Omit<Call, 'body' | 'query' | 'params'> & { body: Parsed<B>; query: Parsed<Q>; params: Parsed<P> },
    ): Promise<Answer>
  },
): Route {
  return route as Route
}

const NO_PARAMETERS = z.strictObject({})

export type RouterDeps = {
  readonly db: Db
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  readonly turns: Turns
}

/** Rows of a list that count as one request of the account. */
const ROWS_OF_REQUEST = 10
/** Milliseconds. */
export const STALLED_MS = 60_000

export const readsList = ({ method, query }: Route): boolean =>
  method === 'get' && query instanceof z.ZodObject && 'limit' in query.shape

/** Other methods on a known path get 405 with Allow. */
export function mountRoutes(router: Router, routes: readonly Route[], deps: RouterDeps): void {
  const paths = new Map<string, Route[]>()
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route])
  for (const [path, methods] of paths) {
    const expressPath = path.replace(/\{(\w+)\}/g, ':$1')
    for (const route of methods)
      router[route.method](
        expressPath,
        admit(route, deps),
        ...(route.body === undefined ? [] : [readJson]),
        (request, response) => run(route, deps, { request, response }),
      )
    const refuse = onlyMethods(methods.map((route) => route.method.toUpperCase()))
    router.all(expressPath, (request, response, next) => {
      deps.limits.countVisit(request.ip ?? '', 'look')
      return refuse(request, response, next)
    })
  }
}

export function setHeaders(headers: Readonly<Record<string, string>>): RequestHandler {
  return (_request, response, next) => {
    response.set(headers)
    next()
  }
}

export function onlyMethods(methods: readonly string[]): RequestHandler {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  return () => {
    throw new Problem('method_not_allowed', `Use one of: ${allow}.`, { headers: { allow } })
  }
}

function admit(route: Route, { authenticate, limits }: RouterDeps) {
  return async (request: Request, response: Response, next: () => void): Promise<void> => {
    const caller = await authenticate(request, route.scope, (known) => noteCaller(response, known))
    response.set(limits.count(caller, countRequests(route, request)))
    response.locals['caller'] = caller
    next()
  }
}

/**
 * The cost of a list grows with its rows, so a merchant who pages through all of them leaves time for other merchants.
 */
function countRequests(route: Route, { query }: Request): number {
  const rows = Number(query['limit'])
  return readsList(route) && rows > ROWS_OF_REQUEST ? Math.ceil(Math.min(rows, 100) / ROWS_OF_REQUEST) : 1
}

async function run(
  route: Route,
  { db, turns }: Pick<RouterDeps, 'db' | 'turns'>,
  { request, response }: { request: Request; response: Response },
): Promise<void> {
  const caller = response.locals['caller'] as Caller
  const isList = readsList(route)
  const call = {
    caller,
    db: isList || route.csv !== undefined ? db.lists(caller) : db.as(caller),
    body: parse(route.body, request.body, 'body'),
    query: parse(route.query ?? NO_PARAMETERS, { ...request.query }, 'query'),
    params: parse(route.params, request.params, 'path'),
    idempotencyKey: readIdempotencyKey(request),
    ip: request.ip ?? '',
  }
  const own = db.as(caller)
  if (route.csv !== undefined)
    return turns.files(caller.merchantId, async () => send(await handle(route, call, own), { request, response }))
  const answer = await (isList
    ? turns.lists(caller.merchantId, () =>
        // A list and what belongs to its items are read at one moment, from one replica.
        call.db.transaction((tx) => route.handle({ ...call, db: sessionIn(tx) })),
      )
    : route.method === 'post' && route.idempotency === undefined
      ? answerAhead(call.db, { tenant: caller, claim: claimFor(route, call) }, () => handle(route, call, own))
      : handle(route, call, own))
  return send(answer, { request, response })
}

/** The change and its log entry are one transaction. A replayed response changes nothing. */
async function handle(route: Route, call: Call, own: Session): Promise<Answer> {
  const { audited } = route
  const { caller, body, query, params, ip } = call
  if (audited === undefined) return route.handle(call)
  const note = (answer: Answer) => ({
    merchantId: caller.merchantId,
    actor: `key_${caller.keyId}`,
    action: route.operationId,
    data: { ...createdId(answer), ...(params as object | undefined), ...audited(body as never, query as never) },
    ip,
  })
  if (route.reachesOut === true) {
    const answer = await route.handle(call)
    await writeAudit(own, note(answer))
    return answer
  }
  return own.transaction(async (tx) => {
    const answer = await route.handle({ ...call, db: sessionIn(tx) })
    if (answer.headers?.['idempotent-replayed'] !== 'true') await writeAudit(tx, note(answer))
    return answer
  })
}

/** The id of the object that a POST created. No other part of the request contains it. */
function createdId({ headers }: Answer): { id?: string } {
  const id = headers?.['location']?.split('/').at(-1)
  return id === undefined ? {} : { id }
}

async function send(
  { status, body, headers = {}, file }: Answer,
  { request, response }: { request: Request; response: Response },
): Promise<void> {
  response.status(status).set(headers)
  if (file === undefined) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    noteAnswer(response, text)
    response.type('application/json').send(text)
    return
  }
  // Read before anything is sent, so that an early error can still become a problem response.
  const chunks = file.chunks[Symbol.asyncIterator]()
  const first = await chunks.next()
  response.type(file.type).set('content-disposition', `attachment; filename="${file.name}"`)
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  response.setTimeout(STALLED_MS, () => response.destroy())
  await pipeline(Readable.from(rejoined(first, chunks)), response)
}

async function* rejoined(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncIterable<string> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value
}

function claimFor(route: Route, { idempotencyKey, body, params }: Call) {
  const path = route.path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent((params as Record<string, string>)[name] ?? ''),
  )
  return createClaim(`POST ${path}`, idempotencyKey, body)
}

function parse(schema: z.ZodType | undefined, value: unknown, where: 'body' | 'query' | 'path'): unknown {
  if (schema === undefined) return undefined
  const result = schema.safeParse(value, { error: mustBe })
  if (result.success) return result.data
  throw explain(result.error, { schema, where, value })
}

/** Throws unless the key has 1 to 255 visible ASCII characters. The IETF draft puts quotes around it. */
function readIdempotencyKey(request: Request): string | null {
  const raw = request.get('idempotency-key')
  if (raw === undefined) return null
  const key = /^".*"$/.test(raw) ? raw.slice(1, -1) : raw
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem('validation_failed', 'Idempotency-Key: must have 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    })
  return key
}
