import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { createLocate } from './countries.ts'
import { refillProblems } from './float.ts'
import { liveProblems, type Problem } from './live.ts'
import { partnerProblems } from './partners.ts'
import { readTemporal } from './temporal.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Thrown if the environment cannot be used. The message names every variable that is missing, wrong, or not for live
 * mode.
 */
export class ConfigurationError extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(`The configuration cannot be used:\n${problems.map(({ name, must }) => `  ${name}: ${must}`).join('\n')}`)
    this.problems = problems
  }
}

/** Reads the variables of the schema. Throws ConfigurationError with everything that is wrong with them. */
export function read<T extends z.ZodObject>(schema: T, env: Environment): z.infer<T> {
  const problems = findProblems(schema, env)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return schema.parse(withFiles(schema, env).present)
}

/**
 * Returns the variables of the schema that are set. `NAME_FILE` names a file with the value of `NAME`, as Docker and
 * Kubernetes provide secrets: a value in the environment is shown by `docker inspect` and inherited by each child.
 */
export function withFiles(schema: z.ZodObject, env: Environment): { present: Environment; problems: Problem[] } {
  const present: Record<string, string | undefined> = { ...presentIn(env) }
  const problems: Problem[] = []
  for (const name of Object.keys(schema.shape)) {
    const path = present[`${name}_FILE`]
    if (path === undefined) continue
    if (present[name] !== undefined)
      problems.push({ name: `${name}_FILE`, must: `must not be set together with ${name}` })
    else
      problems.push(
        ...failing(`${name}_FILE`, 'must be a file that can be read', () => {
          // Editors end the last line.
          present[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
        }),
      )
  }
  return { present: presentIn(present), problems }
}

/**
 * Returns everything that is wrong with the variables of the schema, in its order; an empty list if `read` succeeds.
 */
export function findProblems(schema: z.ZodObject, env: Environment): Problem[] {
  const { present, problems } = withFiles(schema, env)
  const unread = new Set(problems.map(({ name }) => name.replace(/_FILE$/, '')))
  const read = new Map<string, unknown>()
  // One by one, so that an error in one variable does not hide errors in the others.
  for (const [name, field] of Object.entries(schema.shape)) {
    if (unread.has(name)) continue
    const result = z.safeParse(field, present[name], { error: mustBe })
    if (result.success) read.set(name, result.data)
    else problems.push({ name, must: present[name] === undefined ? 'must be set' : describeIssues(result.error) })
  }
  const settings = Object.fromEntries(read)
  if (settings['CRYPTO_DEPOSITS'] === true && 'DEPOSIT_SEED' in settings && settings['DEPOSIT_SEED'] === undefined)
    problems.push({ name: 'DEPOSIT_SEED', must: 'must be set, because CRYPTO_DEPOSITS is true' })
  problems.push(...partnerProblems(settings), ...refillProblems(settings))
  if ('TEMPORAL_ADDRESS' in settings)
    problems.push(...failing('TEMPORAL_*', 'must name a server', () => readTemporal(present)))
  const countries = settings['COUNTRY_DATABASE']
  if (typeof countries === 'string')
    problems.push(...failing('COUNTRY_DATABASE', 'must be a file of countries', () => createLocate(countries)))
  return settings['PINRAIL_MODE'] === 'live' ? [...problems, ...liveProblems(settings, present)] : problems
}

function failing(name: string, must: string, use: () => unknown): Problem[] {
  try {
    use()
    return []
  } catch (error) {
    return [{ name, must: `${must}: ${error instanceof Error ? error.message : String(error)}` }]
  }
}

const presentIn = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

const describeIssues = (error: z.core.$ZodError): string =>
  [...new Set(error.issues.map(({ message }) => message))].join('; ')

/** The message for a variable whose schema defines none. */
const mustBe: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type' && issue.expected !== 'string') return 'must be a whole number'
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'invalid_format') return 'must be a URL'
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  if (issue.code !== 'too_small') return undefined
  if (issue.origin === 'array') return 'must name at least one'
  return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
}
