import { z } from 'zod'
import { plural } from '../../domain/plural.ts'
import { isProblemCode } from './problem-codes.ts'
import { type FieldProblem, Problem } from './problems.ts'

/** The response must stay small for any request. */
const MOST_ERRORS = 50

type Place = 'body' | 'query' | 'path'

/** Throws a Problem that explains every wrong field. */
export function parseOrExplain<S extends z.ZodType>(schema: S, value: unknown, where: Place = 'body'): z.output<S> {
  const result = schema.safeParse(value, { error: mustBe })
  if (result.success) return result.data
  throw explain(result.error, { schema, where, value })
}

type Checked = { readonly schema: z.ZodType; readonly where: Place; readonly value: unknown }

/** If all problems have one code that is also a problem's, such as `currency_not_supported`, the response has it. */
function explain(error: z.ZodError, checked: Checked): Problem {
  const issues = error.issues.flatMap(oneKeyEach)
  const errors = issues.slice(0, MOST_ERRORS).map((issue) => describe(issue, checked))
  const more = issues.length - errors.length
  const first = errors[0]
  const codes = new Set(errors.map((item) => item.code))
  const only = codes.size === 1 ? (first?.code ?? '') : ''
  const detail = [...errors.map((item) => item.message), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
  return new Problem(isProblemCode(only) ? only : 'validation_failed', detail, {
    errors,
    ...(first !== undefined && { param: paramName(error.issues[0]?.path ?? [], first) }),
  })
}

/** For schemas without their own message. */
const mustBe: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'too_small':
      return `must ${size('at least', issue.minimum, issue.origin)}`
    case 'too_big':
      return `must ${size('at most', issue.maximum, issue.origin)}`
    default:
      return undefined
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

function size(bound: 'at least' | 'at most', count: number | bigint, origin: string): string {
  const unit = UNITS[origin]
  return unit === undefined ? `be ${bound} ${count}` : `have ${bound} ${plural(count, unit)}`
}

/** Errors by field of the form. `other` gets an error without a field. */
export function toFieldErrors(problem: Problem, other: string): Record<string, string> {
  const { errors = [] } = problem.extras
  if (errors.length === 0) return { [other]: problem.message }
  return Object.fromEntries(
    errors.toReversed().map(({ pointer, message }) => {
      const text = message.replace(/^[\w.]+: /, '')
      return [pointer.split('/')[1] ?? other, capitalized(text)]
    }),
  )
}

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function oneKeyEach(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue]
}

function paramName(path: readonly PropertyKey[], first: FieldProblem): string {
  return path.length > 0 ? path.map(String).join('.') : (first.pointer.split('/').at(-1) ?? '')
}

function describe(issue: z.core.$ZodIssue, { schema, where, value }: Checked): FieldProblem {
  const prefix = where === 'body' ? [] : [where]
  const pointer = (path: readonly PropertyKey[]): string =>
    [...prefix, ...path].map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  if (issue.code === 'unrecognized_keys') {
    const key = (issue.keys[0] ?? '').slice(0, LONGEST_NAME)
    const path = [...issue.path, key]
    const message = `${path.map(String).join('.')} is not a known ${where === 'query' ? 'parameter' : 'field'}.${suggestion(key, schema)}`
    return { pointer: pointer(path), code: 'parameter_unknown', message }
  }
  const path = issue.path.map((part) => String(part).slice(0, LONGEST_NAME))
  const name = path.join('.') || where
  const custom = issue.code === 'custom' && typeof issue.params?.['code'] === 'string' ? issue.params['code'] : null
  const missing = custom === null && issue.path.length > 0 && valueAt(value, issue.path) === undefined
  return {
    pointer: pointer(path),
    code: custom ?? (missing ? 'parameter_missing' : 'parameter_invalid'),
    message: missing ? `${name} is required.` : `${name}: ${endSentence(issue.message)}`,
  }
}

/** Characters of field names from the request that the response repeats. */
const LONGEST_NAME = 60

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[part] : undefined),
    value,
  )
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Empty unless a known field is within two edits. */
function suggestion(key: string, schema: z.ZodType): string {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const nearest = known
    .map((candidate) => ({ candidate, distance: editDistance(key.toLowerCase(), candidate) }))
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
