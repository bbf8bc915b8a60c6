import type { Request, RequestHandler, Response } from 'express'
import type { ApiScope } from '../../auth/api-key.ts'
import { type Caller, requireScope } from '../../auth/auth.ts'
import type { Answer } from '../../http/answer.ts'
import { readJson } from '../../http/json-body.ts'
import { Problem } from '../../http/problems.ts'
import { noteAnswer, noteCaller } from '../../http/request-log.ts'
import type { Operation } from '../../operation.ts'
import { answerRequest, countRequests, type RouterDeps } from '../../route.ts'
import type { OperationDeps } from '../../routes/v1/index.ts'

export type FacadeDeps = RouterDeps & OperationDeps

export type Sent = {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, unknown>>
  readonly params?: Readonly<Record<string, string>>
}

/** A request of a shop whose key is proved and of this store. */
export type FacadeCall = {
  readonly caller: Caller
  readonly storeId: string
  readonly request: Request
  /** Runs an operation as a request to its own route would: with its scope, its limits and its audit entry. */
  readonly ask: <T>(operation: Operation<OperationDeps>, sent?: Sent) => Promise<T>
}

export type Handle = (call: FacadeCall, deps: FacadeDeps) => Promise<unknown>

/** Every success has the status 200: the client for PHP accepts no other. */
export function serve(deps: FacadeDeps, scope: ApiScope, handle: Handle): RequestHandler[] {
  return [
    async (request, response, next) => {
      const caller = await deps.authenticate(request, scope, (known) => noteCaller(response, known))
      response.set(deps.limits.count(caller, 1))
      const { store } = request.params
      if (store !== undefined && store !== caller.merchantId)
        throw new Problem('resource_missing', 'There is no such store, or the key belongs to another one.')
      response.locals['caller'] = caller
      next()
    },
    (request, response, next) => {
      if (['POST', 'PUT'].includes(request.method)) readJson(request, response, next)
      else next()
    },
    async (request, response) => {
      const body = await handle(createCall(deps, request, response), deps)
      if (body === undefined) {
        response.status(200).end()
        return
      }
      const text = JSON.stringify(body)
      noteAnswer(response, text)
      response.status(200).type('application/json').send(text)
    },
  ]
}

function createCall(deps: FacadeDeps, request: Request, response: Response): FacadeCall {
  const caller: Caller = { ...(response.locals['caller'] as Caller), shopApi: 'btcpay' }
  // The request itself counted once.
  let paid = 1
  return {
    caller,
    storeId: caller.merchantId,
    request,
    ask: async <T>(operation: Operation<OperationDeps>, { body, query = {}, params = {} }: Sent = {}): Promise<T> => {
      requireScope(caller, operation.scope)
      const cost = countRequests(operation, query)
      const more = Math.max(0, cost - paid)
      paid = Math.max(0, paid - cost)
      if (more > 0) deps.limits.count(caller, more)
      const sent = { caller, ip: request.ip ?? '', body, query, params, key: null }
      return answerRequest(operation, deps, { ...sent, use: async (answer: Answer) => readBody(answer) as T })
    },
  }
}

const readBody = ({ body }: Answer): unknown => (typeof body === 'string' ? JSON.parse(body) : body)
