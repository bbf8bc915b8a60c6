import { z } from 'zod'
import { type AuditNote, writeAudit } from '../db/accounts/audit.ts'
import { type Session, sessionIn } from '../db/db.ts'
import type { ApiScope } from './auth/api-key.ts'
import type { Caller } from './auth/auth.ts'
import { type Answer, isReplay } from './http/answer.ts'
import { type Claim, createClaim } from './http/idempotency.ts'
import type { ProblemCode } from './http/problem-codes.ts'
import { parseOrExplain } from './http/validation.ts'

export const TAGS = {
  Payments: 'Charge a buyer, follow the payment.',
  Refunds: 'Give the buyer of a settled payment money back.',
  Disputes: 'Answer buyers who ask their bank for the money back.',
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

/**
 * One thing that a merchant can do. The router, the OpenAPI document and the tests read the list of all operations
 * (routes/v1/index.ts); the dashboard calls an operation by its value. `D`: what its handler needs.
 */
export type Operation<D = never> = {
  /** The id in the OpenAPI document and the action in the audit log. The constant has the same name. */
  readonly name: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
  readonly tag: keyof typeof TAGS
  readonly summary: string
  readonly description?: string
  readonly scope: ApiScope
  readonly body?: z.ZodType | undefined
  /** The body has documents in base64, and can be larger than others. */
  readonly hasDocuments?: true
  readonly query?: z.ZodType | undefined
  readonly params?: z.ZodType | undefined
  /** The response by its status. */
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
  /** Its effect is not only in the database, so it cannot run in one transaction with its log entry. */
  readonly reachesOut?: true
  /** A request that works. The reference shows it, and a test sends it. */
  readonly example?: {
    readonly body?: object
    readonly query?: Readonly<Record<string, string>>
    /** By default the example of the response's schema. */
    readonly answer?: object
  }
  /** Ends before the request takes a turn and a connection, so that a request can wait for something to happen. */
  readonly waitFirst?: (call: never, deps: D) => Promise<void>
  readonly handle: (call: never, deps: D) => Promise<Answer>
}

export type Schema = z.ZodType | undefined

type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined

export type Call<B = unknown, Q = unknown, P = unknown> = {
  readonly caller: Caller
  readonly db: Session
  readonly body: B
  readonly query: Q
  readonly params: P
  /** Null without an idempotency key. */
  readonly claim: Claim | null
  readonly ip: string
}

/** The fields of a request as a person entered them: the schema checks the texts, and that numbers are numbers. */
export type Entered<T> = T extends string
  ? string
  : T extends number
    ? number | string
    : T extends readonly (infer Item)[]
      ? readonly Entered<Item>[]
      : T extends object
        ? { readonly [Field in keyof T]: Entered<T[Field]> }
        : T

/** An operation with the types of its request and response. */
export type TypedOperation<D, B extends Schema, Q extends Schema, P extends Schema, O> = Omit<
  Operation,
  'body' | 'query' | 'params' | 'answers' | 'audited' | 'waitFirst' | 'handle'
> & {
  readonly body?: B
  readonly query?: Q
  readonly params?: P
  readonly answers: Readonly<Record<number, z.ZodType<O>>>
  readonly audited?: (body: Parsed<B>, query: Parsed<Q>) => object
  readonly waitFirst?: (call: Call<Parsed<B>, Parsed<Q>, Parsed<P>>, deps: D) => Promise<void>
  readonly handle: (call: Call<Parsed<B>, Parsed<Q>, Parsed<P>>, deps: D) => Promise<Answer<NoInfer<O>>>
}

export function defineOperation<
  D,
  O,
  B extends Schema = undefined,
  Q extends Schema = undefined,
  P extends Schema = undefined,
>(operation: TypedOperation<D, B, Q, P, O>): TypedOperation<D, B, Q, P, O> {
  return operation
}

export const WHOLE = (body: object): object => body
/** Logs nothing of the body: the path says enough. */
export const NOTHING = (): object => ({})

const NO_PARAMETERS = z.strictObject({})

export type SentRequest = Pick<Call, 'caller' | 'ip' | 'body' | 'query' | 'params'> & { readonly key: string | null }

/** Throws a Problem unless the request fits the operation. Only a POST has a claim: other methods can be repeated. */
export function readCall(operation: Operation, { key, caller, db, ip, ...sent }: SentRequest & Pick<Call, 'db'>): Call {
  const { method, path, body, query = NO_PARAMETERS, params } = operation
  const parsed = {
    body: body && parseOrExplain(body, sent.body, 'body'),
    query: parseOrExplain(query, sent.query, 'query'),
    params: params && parseOrExplain(params, sent.params, 'path'),
  }
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent((parsed.params as Record<string, string>)[name] ?? ''),
  )
  return {
    ...parsed,
    caller,
    db,
    ip,
    claim: method === 'post' ? createClaim(`POST ${filled}`, key, parsed.body) : null,
  }
}

/** The change and its log entry are one transaction. A replayed response changes nothing. */
export function changeLogged<T>(
  db: Session,
  change: (db: Session) => Promise<Answer<T>>,
  toEntry: (answer: Answer<T>) => AuditNote,
): Promise<Answer<T>> {
  return db.transaction(async (tx) => {
    const answer = await change(sessionIn(tx))
    if (!isReplay(answer)) await writeAudit(tx, toEntry(answer))
    return answer
  })
}
