import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const MIGRATIONS = 'src/db/migrations'
const FOLDER = fileURLToPath(new URL(`../../${MIGRATIONS}`, import.meta.url))

type Column = {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly default: string | null
  readonly comment: string | null
}
/** `p`: primary key, `u`: unique, `f`: foreign key, `c`: check. */
type Constraint = {
  readonly kind: 'p' | 'u' | 'f' | 'c'
  readonly columns: readonly string[]
  readonly target: string | null
  readonly definition: string
}
type Relation = {
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly comment: string | null
  readonly columns: readonly Column[]
  readonly constraints: readonly Constraint[]
}
type Domain = { readonly name: string; readonly type: string; readonly comment: string | null }
export type Schema = { readonly relations: readonly Relation[]; readonly domains: readonly Domain[] }

const RELATIONS = `
  select c.relname as name, case c.relkind when 'v' then 'view' else 'table' end as kind, obj_description(c.oid) as comment,
    (select json_agg(json_build_object('name', attname, 'type', replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz'),
        'nullable', not attnotnull, 'default', case when attidentity = '' then pg_get_expr(adbin, adrelid) else 'counted' end,
        'comment', col_description(c.oid, attnum)) order by attnum)
      from pg_attribute left join pg_attrdef on (adrelid, adnum) = (attrelid, attnum)
      where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
    (select coalesce(json_agg(json_build_object('kind', contype, 'target', nullif(confrelid, 0)::regclass::text,
        'definition', pg_get_constraintdef(k.oid, true), 'columns', array(select attname from unnest(conkey) with ordinality as u(num, nth)
          join pg_attribute on (attrelid, attnum) = (conrelid, num) order by nth)) order by conkey, conname), '[]')
      from pg_constraint k where conrelid = c.oid and contype in ('p', 'u', 'f', 'c')) as constraints
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v') and c.relname <> 'migration'
  order by c.relname`

const DOMAINS = `select typname as name, format_type(typbasetype, typtypmod) as type, obj_description(oid) as comment from pg_type
  where typtype = 'd' and typnamespace = current_schema()::regnamespace order by typname`

export async function readSchema(databaseUrl: string): Promise<Schema> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: relations } = await client.query<Relation>(RELATIONS)
    const { rows: domains } = await client.query<Domain>(DOMAINS)
    return { relations, domains }
  } finally {
    await client.end()
  }
}

/** docs/schema.md: the tables of each migration file, in the order in which the file creates them. */
export function schemaPage({ relations, domains }: Schema): string {
  const areas = readdirSync(FOLDER).sort().map(readArea)
  const sections = areas.map(({ file, title, about, names }) => {
    const tables = names.map((name) => {
      const relation = relations.find((one) => one.name === name)
      if (relation === undefined) throw new Error(`${file} creates ${name}, which is not in the database`)
      return relationSection(relation, relations)
    })
    return `## ${title}\n\n${about} Created by \`${MIGRATIONS}/${file}\`.\n\n${tables.join('\n')}`
  })
  return `# The schema

Written by \`npm run docs\` from a migrated database and the comments in \`${MIGRATIONS}\`: change them there.

Columns without a description are plain from their names. An \`id\` is a TypeID unless it is counted; \`livemode\` is false for test mode.
A table of which a merchant's requests see only the merchant's own rows has a row-level policy for the role \`pinrail_tenant\`.

| area | tables |
| --- | --- |
${areas.map(({ title, names }) => `| ${title} | ${names.map((name) => `[\`${name}\`](#${name})`).join(', ')} |`).join('\n')}

## Types of columns

| type | stored as | meaning |
| --- | --- | --- |
${domains.map(({ name, type, comment }) => `| \`${name}\` | ${type} | ${comment ?? ''} |`).join('\n')}

${sections.join('\n')}`
}

/** A file begins with a comment `-- Title: what is in it.`, which may have several lines. */
function readArea(file: string) {
  const text = readFileSync(`${FOLDER}/${file}`, 'utf8')
  const [, title = file, about = ''] = /^-- (.+?): ((?:.*\n-- )*.*)\n/.exec(text) ?? []
  const names = [...text.matchAll(/^create (?:unlogged )?(?:table|view) (\w+)/gm)].map(([, name = '']) => name)
  return { file, title, about: sentence(about.replaceAll('\n-- ', ' ')), names }
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function relationSection({ name, kind, comment, columns, constraints }: Relation, all: readonly Relation[]): string {
  const isTable = kind === 'table'
  const heads = isTable ? ['column', 'type', 'null', 'default', 'meaning'] : ['column', 'type', 'meaning']
  const rows = columns.map((column) => {
    const facts = isTable ? [column.nullable ? 'null' : '', code(column.default)] : []
    return [`\`${column.name}\``, column.type, ...facts, describeColumn(column, constraints)]
  })
  return `### \`${name}\`

${isTable ? '' : 'A view. '}${comment ?? ''}

${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}
${keyLines(name, constraints, all)
  .map((line) => `\n- ${line}`)
  .join('')}
`
}

const code = (text: string | null): string => (text === null ? '' : `\`${plain(text)}\``)

/** Returns an expression without the casts that Postgres adds. */
const plain = (expression: string): string => expression.replace(/::(?:text|numeric)(?:\[\])?/g, '')

const ONE_OF = /^CHECK \(\w+ = ANY \(ARRAY\[([^\]]+)\]\)\)$/

function describeColumn({ name, comment }: Column, constraints: readonly Constraint[]): string {
  const values = constraints.flatMap(({ columns, definition }) =>
    columns.join() === name ? (ONE_OF.exec(plain(definition))?.[1] ?? []) : [],
  )
  const listed = values.map((list) => `One of ${list.replaceAll("'", '`')}.`)
  return [comment ?? '', ...listed].join(' ').trim()
}

function keyLines(name: string, constraints: readonly Constraint[], all: readonly Relation[]): string[] {
  const list = (columns: readonly string[]): string => columns.map((column) => `\`${column}\``).join(', ')
  const of = (kind: Constraint['kind']): Constraint[] => constraints.filter((one) => one.kind === kind)
  const referring = all.flatMap((other) =>
    other.constraints.flatMap(({ kind, target, columns }) =>
      kind === 'f' && target === name ? [`[\`${other.name}\`](#${other.name}) (${list(columns)})`] : [],
    ),
  )
  return [
    ...of('p').map(({ columns }) => `Primary key: ${list(columns)}.`),
    ...of('u').map(({ columns }) => `Unique: ${list(columns)}.`),
    ...of('f').map(({ columns, target, definition }) => {
      const [, effect] = / ON DELETE (.+)$/.exec(definition) ?? []
      const end = effect === undefined ? '.' : `; when that is deleted: ${effect.toLowerCase()}.`
      return `Refers to [\`${target}\`](#${target}) by ${list(columns)}${end}`
    }),
    ...(referring.length === 0 ? [] : [`Referred to by ${referring.join(', ')}.`]),
    ...of('c').flatMap(({ definition }) =>
      ONE_OF.test(plain(definition)) ? [] : [`Check: \`${plain(definition).replace(/^CHECK \((.*)\)$/, '$1')}\`.`],
    ),
  ]
}
