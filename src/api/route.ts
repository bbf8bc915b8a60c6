import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response, Router } from 'express'
import { z } from 'zod'
import { writeAudit } from '../db/accounts/audit.ts'
import { type Db, type Session, sessionIn } from '../db/db.ts'
import type { Authenticate, Caller } from './auth/auth.ts'
import type { Answer } from './http/answer.ts'
import { answerAhead, IDEMPOTENCY_KEY } from './http/idempotency.ts'
import { readDocuments, readJson } from './http/json-body.ts'
import { Problem } from './http/problems.ts'
import { noteAnswer, noteCaller } from './http/request-log.ts'
import type { RequestLimits } from './limits/request-limits.ts'
import type { Turns } from './limits/turns.ts'
import { type Call, changeLogged, type Operation, readCall, type SentRequest } from './operation.ts'

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

export const readsList = ({ method, query }: Operation): boolean =>
  method === 'get' && query instanceof z.ZodObject && 'limit' in query.shape

/** Other methods on a known path get 405 with Allow. */
export function mountOperations<D>(router: Router, operations: readonly Operation<D>[], deps: RouterDeps & D): void {
  for (const [path, methods] of groupByPath(operations)) {
    const expressPath = path.replace(/\{(\w+)\}/g, ':$1')
    for (const operation of methods)
      router[operation.method](
        expressPath,
        admit(operation, deps),
        ...(operation.body === undefined ? [] : [operation.hasDocuments === true ? readDocuments : readJson]),
        (request, response) => run(operation, deps, { request, response }),
      )
    router.all(
      expressPath,
      refuseOthers(
        deps,
        methods.map(({ method }) => method.toUpperCase()),
      ),
    )
  }
}

export function groupByPath<T extends { readonly path: string }>(all: readonly T[]): Map<string, T[]> {
  const paths = new Map<string, T[]>()
  for (const one of all) paths.set(one.path, [...(paths.get(one.path) ?? []), one])
  return paths
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

/** For paths whose other requests have a key: nothing else counts a request that reaches this. */
export function refuseOthers(
  { limits }: { readonly limits: Pick<RequestLimits, 'countVisit'> },
  methods: readonly string[],
): RequestHandler {
  const refuse = onlyMethods(methods)
  return (request, response, next) => {
    limits.countVisit(request.ip ?? '', 'look')
    return refuse(request, response, next)
  }
}

function admit(operation: Operation, { authenticate, limits }: RouterDeps) {
  return async (request: Request, response: Response, next: () => void): Promise<void> => {
    const caller = await authenticate(request, operation.scope, (known) => noteCaller(response, known))
    response.set(limits.count(caller, countRequests(operation, request.query)))
    response.locals['caller'] = caller
    next()
  }
}

/**
 * The cost of a list grows with its rows, so a merchant who pages through all of them leaves time for other merchants.
 */
export function countRequests(operation: Operation, query: Readonly<Record<string, unknown>>): number {
  const rows = Number(query['limit'])
  return readsList(operation) && rows > ROWS_OF_REQUEST ? Math.ceil(Math.min(rows, 100) / ROWS_OF_REQUEST) : 1
}

/**
 * `file` and `list` read in their turn. `claimed`: its effect is outside the database, so its idempotency key is claimed
 * first.
 */
type Course = 'file' | 'list' | 'claimed' | 'direct'

function getCourse(operation: Operation): Course {
  if (operation.csv !== undefined) return 'file'
  if (readsList(operation)) return 'list'
  return operation.method === 'post' && operation.idempotency === undefined ? 'claimed' : 'direct'
}

function run<D>(
  operation: Operation<D>,
  deps: RouterDeps & D,
  { request, response }: { request: Request; response: Response },
): Promise<void> {
  const sent = {
    caller: response.locals['caller'] as Caller,
    body: request.body,
    query: { ...request.query },
    params: request.params,
    key: readIdempotencyKey(request),
    ip: request.ip ?? '',
  }
  return answerRequest(operation, deps, { ...sent, use: (answer) => send(answer, { request, response }) })
}

/** `use` ends before a file gives its turn to the next. */
type UsedRequest<T> = SentRequest & { readonly use: (answer: Answer) => Promise<T> }

/** The caller must have the scope of the operation, and its request must have been counted. */
export async function answerRequest<D, T>(
  operation: Operation<D>,
  deps: Pick<RouterDeps, 'db' | 'turns'> & D,
  { use, ...sent }: UsedRequest<T>,
): Promise<T> {
  const { db, turns } = deps
  const { caller } = sent
  const course = getCourse(operation)
  const call = readCall(operation, {
    ...sent,
    db: course === 'file' || course === 'list' ? db.lists(caller) : db.as(caller),
  })
  await operation.waitFirst?.(call as never, deps)
  const handle = (session: Session): Promise<Answer> => operation.handle({ ...call, db: session } as never, deps)
  const answer = (): Promise<Answer> => handleLogged(operation, call, { handle, own: db.as(caller) })
  switch (course) {
    case 'file':
      return turns.files(caller.merchantId, async () => use(await answer()))
    case 'list':
      // A list and what belongs to its items are read at one moment, from one replica.
      return use(await turns.lists(caller.merchantId, () => call.db.transaction((tx) => handle(sessionIn(tx)))))
    case 'claimed':
      return use(await answerAhead(call.db, { tenant: caller, claim: call.claim }, answer))
    case 'direct':
      return use(await answer())
  }
}

type Handling = {
  readonly handle: (db: Session) => Promise<Answer>
  /** Can write, also if the request reads a list. */
  readonly own: Session
}

async function handleLogged(operation: Operation, call: Call, { handle, own }: Handling): Promise<Answer> {
  const { name, audited, reachesOut } = operation
  const { caller, body, query, params, ip } = call
  if (audited === undefined) return handle(call.db)
  const toEntry = (answer: Answer) => ({
    merchantId: caller.merchantId,
    actor: `key_${caller.keyId}`,
    action: name,
    data: { ...createdId(answer), ...(params as object | undefined), ...audited(body as never, query as never) },
    ip,
  })
  if (reachesOut !== true) return changeLogged(own, handle, toEntry)
  const answer = await handle(call.db)
  await writeAudit(own, toEntry(answer))
  return answer
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

/** Throws unless the key has 1 to 255 visible ASCII characters. The IETF draft puts quotes around it. */
function readIdempotencyKey(request: Request): string | null {
  const raw = request.get('idempotency-key')
  if (raw === undefined) return null
  const key = /^".*"$/.test(raw) ? raw.slice(1, -1) : raw
  if (!IDEMPOTENCY_KEY.test(key))
    throw new Problem('validation_failed', 'Idempotency-Key: must have 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    })
  return key
}
