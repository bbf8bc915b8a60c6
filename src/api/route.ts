import express, { type Express, type Request, type Response } from 'express'
import { z } from 'zod'
import type { ApiScope } from './api-key.ts'
import type { Authenticate, Caller } from './auth.ts'
import { Problem } from './problems.ts'
import { explain } from './validation.ts'

/** A route as a value: what it takes, what it answers, what it does. The router and the OpenAPI document read it. */
export type Route = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `{name}` for parameters, as in OpenAPI. */
  readonly path: string
  readonly summary: string
  readonly scope: ApiScope
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  readonly params?: z.ZodType
  readonly answers: Readonly<Record<number, z.ZodType>>
  handle(call: Call): Promise<Answer>
}

export type Call = {
  readonly caller: Caller
  readonly body: unknown
  readonly query: unknown
  readonly params: unknown
  readonly idempotencyKey: string | null
}

export type Answer = {
  readonly status: number
  /** Text when it was stored as text: then it is sent as it is. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
}

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined

/** Ties the handler's arguments to the schemas; the result is a plain Route. */
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

/** 64 KiB, as PRODUCT.md 12 says; counted after decompression. */
const BODY_LIMIT = '64kb'
const MAX_DEPTH = 8

/** Mounts the routes: authenticate, parse, call, answer. Other methods on a known path get 405 with Allow. */
export function mountRoutes(app: Express, routes: readonly Route[], authenticate: Authenticate): void {
  const json = express.json({ limit: BODY_LIMIT, strict: false, type: () => true })
  const paths = new Map<string, Route[]>()
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route])
  for (const [path, methods] of paths) {
    const expressPath = path.replace(/\{(\w+)\}/g, ':$1')
    for (const route of methods)
      app[route.method](expressPath, requireAuth(route, authenticate), jsonOnly(route, json), (request, response) =>
        run(route, request, response),
      )
    const allow = methods.map((route) => route.method.toUpperCase()).join(', ')
    app.all(expressPath, () => {
      throw new Problem('method_not_allowed', `Use one of: ${allow}.`, { headers: { allow } })
    })
  }
}

function requireAuth(route: Route, authenticate: Authenticate) {
  return async (request: Request, response: Response, next: () => void): Promise<void> => {
    response.locals['caller'] = await authenticate(request, route.scope)
    next()
  }
}

/** Only JSON with a body schema; a body where none belongs is not read. */
function jsonOnly(route: Route, json: ReturnType<typeof express.json>) {
  return (request: Request, response: Response, next: (error?: unknown) => void): void => {
    if (route.body === undefined) {
      next()
      return
    }
    const type = (request.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
    if (type !== 'application/json') {
      next(new Problem('unsupported_media_type', 'Send the body as application/json.'))
      return
    }
    json(request, response, next)
  }
}

async function run(route: Route, request: Request, response: Response): Promise<void> {
  const answer = await route.handle({
    caller: response.locals['caller'] as Caller,
    body: parse(route.body, tooDeep(request.body, MAX_DEPTH) ? deepError() : request.body, ''),
    query: parse(route.query, request.query, 'query'),
    params: parse(route.params, request.params, 'path'),
    idempotencyKey: readIdempotencyKey(request),
  })
  response.status(answer.status).set(answer.headers ?? {})
  response.type('application/json').send(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
}

function parse(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (schema === undefined) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw explain(result.error, { schema, where })
}

function deepError(): never {
  throw new Problem('validation_failed', `The body may be nested at most ${MAX_DEPTH} deep.`)
}

/** Without recursion into the value: the limit is checked before anything walks it. */
function tooDeep(value: unknown, limit: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

/** 1 to 255 visible ASCII characters; surrounding quotes are taken off (the header is a structured string in the draft). */
function readIdempotencyKey(request: Request): string | null {
  const raw = request.get('idempotency-key')
  if (raw === undefined) return null
  const key = /^".*"$/.test(raw) ? raw.slice(1, -1) : raw
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem('validation_failed', 'Idempotency-Key has 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    })
  return key
}
