import type { Random } from '../../test/support/random.ts'

/** Makes values by a schema of the OpenAPI document: valid ones, and hostile ones. */

export type Schema = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

const HOSTILE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1e308,
  1e-7,
  0.1 + 0.2,
  2 ** 53,
  Number.MIN_VALUE,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\ufffe',
  '\u202e',
  '😀',
  'ﷺ',
  'x'.repeat(70_000),
  '0',
  '-0',
  '1e5',
  'NaN',
  "'; drop table payment; --",
  '<script>',
  '${7*7}',
  '%00',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  '2026-13-45T99:99:99Z',
  'https://[::1]/',
  'javascript:alert(1)',
  `0x${'0'.repeat(40)}`,
  '٤٩',
  '４９',
  'EUR\u0000',
  '\n',
  [],
  {},
  [[]],
  [[[[[[[[[[]]]]]]]]]],
  { a: { b: { c: {} } } },
  { toString: 1 },
  { length: 1e9 },
  Array(200).fill('*'),
]

/** Texts that match the patterns of the document, tried one after the other. */
const TEXTS: readonly string[] = [
  '49.99',
  '10',
  '0.01',
  '5000',
  '1',
  '100',
  '20',
  '7',
  'EUR',
  'JPY',
  'USD',
  'order-1042',
  'Zwei Karten',
  'a',
  'x y z',
  'https://shop.example/hooks',
  'https://shop.example/thanks',
  'http://localhost:3000/',
  '2026-11-01T00:00:00Z',
  '1793000000',
  `0x${'ab'.repeat(32)}`,
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '127.0.0.1',
  '192.0.2.0/24',
  'created,pending',
]

export function hostile(random: Random): unknown {
  return random.pick(HOSTILE)
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Returns a value that is valid, as far as the schema shows. */
export function fitting(schema: Schema, random: Random): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return random.pick(schema.enum)
  if (schema.anyOf !== undefined) return fitting(random.pick(schema.anyOf), random)
  const type = Array.isArray(schema.type) ? random.pick<string>(schema.type as readonly string[]) : schema.type
  if (type === 'string') return text(schema, random)
  if (type === 'integer' || type === 'number') return number(schema, type, random)
  if (type === 'boolean') return random.chance(0.5)
  if (type === 'null') return null
  if (type === 'array') return Array.from({ length: 1 + random.below(3) }, () => fitting(schema.items ?? {}, random))
  return object(schema, random)
}

function text({ pattern, minLength = 0, maxLength = 100 }: Schema, random: Random): string {
  const expression = pattern === undefined ? null : new RegExp(pattern, 'u')
  const matches = TEXTS.filter(
    (item) => item.length >= minLength && item.length <= maxLength && (expression === null || expression.test(item)),
  )
  return matches.length > 0 ? random.pick(matches) : 'x'.repeat(Math.max(1, minLength))
}

function number({ minimum = 0, maximum = 10_000 }: Schema, type: string, random: Random): number {
  const whole = minimum + random.below(Math.min(maximum - minimum, 1e9) + 1)
  return type === 'integer' || random.chance(0.5) ? whole : Math.round((whole + 0.99) * 100) / 100
}

function object({ properties = {}, required = [] }: Schema, random: Random): Record<string, unknown> {
  const names = Object.keys(properties).filter((name) => required.includes(name) || random.chance(0.4))
  return Object.fromEntries(names.map((name) => [name, fitting(properties[name] ?? {}, random)]))
}

/** Returns the value with a random change somewhere. It is often still valid. */
export function spoiled(value: unknown, random: Random): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const place = random.below(value.length)
    return value.map((item, index) => (index === place ? spoiled(item, random) : (item as unknown)))
  }
  if (typeof value !== 'object' || value === null || random.chance(0.1)) return hostile(random)
  const entries = Object.entries(value)
  const place = random.below(entries.length + 2)
  const chosen = entries[place]
  if (chosen === undefined) return { ...value, [toText(hostile(random)).slice(0, 200)]: hostile(random) }
  if (random.chance(0.2)) return Object.fromEntries(entries.filter((_, index) => index !== place))
  return { ...value, [chosen[0]]: spoiled(chosen[1], random) }
}
