import { z } from 'zod'
import { type FieldProblem, Problem } from './problems.ts'

/** All problems of a request at once, each with a JSON pointer, a stable code, and what to do. */
export function explain(error: z.ZodError, request: { schema: z.ZodType; where: string }): Problem {
  const errors = error.issues.flatMap((issue) => describe(issue, request))
  const first = errors[0]
  return new Problem('validation_failed', errors.map((item) => item.message).join(' '), {
    errors,
    ...(first !== undefined && { param: first.pointer.split('/').slice(1).join('.') }),
  })
}

function describe(issue: z.core.$ZodIssue, request: { schema: z.ZodType; where: string }): FieldProblem[] {
  const pointer = `${request.where === '' ? '' : `/${request.where}`}/${issue.path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
  const name = issue.path.map(String).join('.') || 'body'
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      pointer: `${pointer.replace(/\/$/, '')}/${key.slice(0, 100)}`,
      code: 'parameter_unknown',
      message: `${[...issue.path.map(String), key.slice(0, 100)].join('.')} is not a known field.${suggestion(key, request.schema)}`,
    }))
  const custom = issue.code === 'custom' && typeof issue.params?.['code'] === 'string' ? issue.params['code'] : null
  const missing = issue.code === 'invalid_type' && issue.input === undefined && /undefined/.test(issue.message)
  return [
    {
      pointer,
      code: custom ?? (missing ? 'parameter_missing' : 'parameter_invalid'),
      message: missing ? `${name} is required.` : `${name}: ${sentence(issue.message)}`,
    },
  ]
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The nearest known field, when it is at most two edits away. */
function suggestion(key: string, schema: z.ZodType): string {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const nearest = known
    .map((candidate) => ({ candidate, distance: editDistance(key.slice(0, 50).toLowerCase(), candidate) }))
    .sort((a, b) => a.distance - b.distance)[0]
  return nearest !== undefined && nearest.distance <= 2 ? ` Did you mean ${nearest.candidate}?` : ''
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    row = next
  }
  return row[b.length] ?? 0
}
