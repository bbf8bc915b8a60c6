import type { ApiCall } from '../../web/docs/code/call.ts'
import type { OperationEntry } from '../../web/docs/reference.tsx'
import { PROBLEMS, type ProblemCode } from '../http/problem-codes.ts'
import type { Route } from '../route.ts'
import { listRefusals } from './openapi.ts'
import { fieldsReader } from './reference-fields.ts'

export function operationEntries(
  routes: readonly Route[],
  { publicUrl, openApi }: { readonly publicUrl: string; readonly openApi: string },
): (OperationEntry & Pick<Route, 'tag'>)[] {
  const fields = fieldsReader(JSON.parse(openApi))
  return routes.map((route) => {
    const { operationId, tag, method, path, summary, description, scope } = route
    const { own, common } = listRefusals(route)
    return {
      operationId,
      tag,
      method,
      path,
      summary,
      description,
      scope,
      call: exampleCall(route, publicUrl),
      problems: own.map(problemEntry),
      commonProblems: common.filter((code) => !own.includes(code)).map(problemEntry),
      ...fields(method, path),
    }
  })
}

const problemEntry = (code: ProblemCode) => ({ code, status: PROBLEMS[code].status, title: PROBLEMS[code].title })

/** Variables replace the ids: `/v1/payments/{id}` becomes PAYMENT_ID. */
function exampleCall({ method, path, example }: Route, publicUrl: string): ApiCall {
  const query = new URLSearchParams(example?.query).toString()
  const named = path.replace(/(\w+)\/\{(\w+)\}/g, (_match, parent: string, name: string) => {
    const subject = name === 'id' ? parent.replace(/s$/, '') : name
    return `${parent}/{${subject.toUpperCase()}_ID}`
  })
  return {
    method: method.toUpperCase(),
    url: `${publicUrl}${named}${query === '' ? '' : `?${query}`}`,
    headers: [],
    body: example?.body ?? null,
  }
}
