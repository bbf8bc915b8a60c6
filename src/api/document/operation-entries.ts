import type { ApiCall } from '../../web/docs/code/call.ts'
import type { OperationEntry } from '../../web/docs/reference.tsx'
import { PROBLEMS, type ProblemCode } from '../http/problem-codes.ts'
import type { Operation } from '../operation.ts'
import { listRefusals } from './openapi.ts'
import { fieldsReader } from './reference-fields.ts'

export function operationEntries(
  operations: readonly Operation[],
  { publicUrl, openApi }: { readonly publicUrl: string; readonly openApi: string },
): (OperationEntry & Pick<Operation, 'tag'>)[] {
  const fields = fieldsReader(JSON.parse(openApi))
  return operations.map((operation) => {
    const { name, tag, method, path, summary, description, scope } = operation
    const { own, common } = listRefusals(operation)
    return {
      operationId: name,
      tag,
      method,
      path,
      summary,
      description,
      scope,
      call: exampleCall(operation, publicUrl),
      problems: own.map(problemEntry),
      commonProblems: common.filter((code) => !own.includes(code)).map(problemEntry),
      ...fields(method, path),
    }
  })
}

const problemEntry = (code: ProblemCode) => ({ code, status: PROBLEMS[code].status, title: PROBLEMS[code].title })

/** Variables replace the ids: `/v1/payments/{id}` becomes PAYMENT_ID. */
function exampleCall({ method, path, example }: Operation, publicUrl: string): ApiCall {
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
