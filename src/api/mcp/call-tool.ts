import type { z } from 'zod'
import type { Logger } from '../../runtime/log.ts'
import { type Caller, requireScope } from '../auth/auth.ts'
import type { DocsSite } from '../document/docs-site.ts'
import type { Answer } from '../http/answer.ts'
import { IDEMPOTENCY_KEY } from '../http/idempotency.ts'
import { PROBLEMS, type ProblemCode } from '../http/problem-codes.ts'
import { asProblem, refuseField } from '../http/problems.ts'
import { answerRequest, countRequests, type RouterDeps } from '../route.ts'
import type { OperationDeps } from '../routes/v1/index.ts'
import { DOCS_TOOLS } from './docs-tools.ts'
import { dataResult, problemResult, type ToolResult } from './results.ts'
import { KEY_ARGUMENT, nameArgument } from './tool-schemas.ts'
import { TOOLS, type Tool } from './tools.ts'

export type ToolDeps = RouterDeps &
  OperationDeps & { readonly docs: Pick<DocsSite, 'openApi' | 'pages' | 'search'>; readonly log: Logger }

/** One request of an agent, whose key is proved and counted. */
export type ToolRequest = {
  readonly caller: Caller
  readonly ip: string
  readonly requestId: string
  /** Receives what is stored of the answer in the log of requests. */
  readonly note: (text: string, code: ProblemCode | null) => void
}

export type ToolArguments = Readonly<Record<string, unknown>>

export const isOffered = ({ testOnly }: Tool, { livemode }: Caller, { simulate }: OperationDeps): boolean =>
  !testOnly || (!livemode && simulate !== null)

/** Null if there is no such tool. A refusal is a result too, so that the model reads what to do. */
export async function callTool(
  deps: ToolDeps,
  request: ToolRequest,
  { name, sent }: { name: string; sent: ToolArguments },
): Promise<ToolResult | null> {
  const tool = TOOLS.find((one) => one.name === name)
  const docsTool = DOCS_TOOLS.find((one) => one.name === name)
  try {
    if (docsTool !== undefined) return docsTool.call(deps.docs, sent)
    if (tool === undefined || !isOffered(tool, request.caller, deps)) return null
    return await callOperation(deps, request, { tool, sent })
  } catch (error) {
    return refuse(deps, request, { name, error })
  }
}

type ToolCall = { readonly tool: Tool; readonly sent: ToolArguments }

async function callOperation(deps: ToolDeps, request: ToolRequest, { tool, sent }: ToolCall): Promise<ToolResult> {
  const { caller, ip, note } = request
  const { operation } = tool
  requireScope(caller, operation.scope)
  const split = splitArguments(tool, sent)
  // The request itself counted once.
  const more = countRequests(operation, split.query) - 1
  if (more > 0) deps.limits.count(caller, more)
  const use = async ({ body }: Answer): Promise<ToolResult> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    if (!tool.hints.readOnlyHint) note(text, null)
    return dataResult(JSON.parse(text) as Record<string, unknown>)
  }
  return answerRequest(operation, deps, { ...split, caller, ip, use })
}

/** As a request to the route would have them. An unknown argument goes where its refusal names it. */
function splitArguments({ operation, needsKey }: Tool, sent: ToolArguments) {
  const { [KEY_ARGUMENT]: key, ...others } = sent
  const parts = { params: {}, query: {}, body: {} } as Record<'params' | 'query' | 'body', Record<string, unknown>>
  const names = { params: listFields(operation.params), query: listFields(operation.query) }
  for (const [name, value] of Object.entries(needsKey ? others : sent)) {
    const parameter = names.query.find((one) => nameArgument(one) === name)
    if (names.params.includes(name)) parts.params[name] = value
    else if (parameter !== undefined) parts.query[parameter] = toQueryText(value)
    else parts[operation.body === undefined ? 'query' : 'body'][name] = value
  }
  return { ...parts, key: needsKey ? readKey(key) : null }
}

const listFields = (schema: z.ZodType | undefined): string[] =>
  Object.keys((schema as z.ZodObject | undefined)?.shape ?? {})

const toQueryText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

function readKey(key: unknown): string {
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key
  throw refuseField(KEY_ARGUMENT, 'must name the order or purpose, in 1 to 255 visible ASCII characters')
}

function refuse(deps: ToolDeps, request: ToolRequest, { name, error }: { name: string; error: unknown }): ToolResult {
  const { publicUrl, log } = deps
  const { requestId, note } = request
  const problem = asProblem(error)
  if (PROBLEMS[problem.code].status >= 500)
    log.error({ err: error, request_id: requestId, tool: name }, 'tool call failed')
  const result = problemResult(problem, { publicUrl, instance: `/mcp#${name}`, requestId })
  note(result.content[0]?.text ?? '', problem.code)
  return result
}
