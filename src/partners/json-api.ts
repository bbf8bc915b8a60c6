import type { ProviderName } from '../domain/methods.ts'
import { ask, type HttpAnswer, type HttpCall } from './http.ts'

export type JsonCall = {
  readonly method: HttpCall['method']
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A partner's JSON API. `call` throws PartnerError for a status that is no answer to the call. */
export type JsonApi = { readonly to: ProviderName; call(call: JsonCall, signal: AbortSignal): Promise<HttpAnswer> }

/** `headers` are sent with every call. They identify the platform. */
export function connectJsonApi(
  to: ProviderName,
  base: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
): JsonApi {
  return {
    to,
    call({ method, path, body, headers }, signal) {
      const all = {
        accept: 'application/json',
        ...base.headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      }
      return ask({ to, method, url: `${base.url}${path}`, headers: all, body: body && JSON.stringify(body) }, signal)
    },
  }
}
