import { z } from 'zod'
import { BEYOND_SETTINGS, DIRECT, POOLED_LIMITS, REFUSED, SETTINGS, type Setting } from './connection/session.ts'
import { createDb, type DbOptions, one, type Queryable, sql } from './db.ts'

/** Thrown if this process must not use this database. Trying again does not help. */
export class DatabaseRefusal extends Error {}

/**
 * Thrown for wrong settings of the database. The message lists each, with the statement or the advice that corrects it.
 */
export class SessionRefusal extends DatabaseRefusal {}

type Pooled = { readonly pooled: boolean }

/** Compares a session with the lists of connection/session.ts in one query, without a schema. Throws SessionRefusal. */
export async function assertSession(db: Queryable, { pooled }: Pooled): Promise<void> {
  const settings = [...SETTINGS, ...REFUSED, ...BEYOND_SETTINGS, ...(pooled ? POOLED_LIMITS : DIRECT)]
  const found = await readSession(db, settings)
  const statement = ({ name, must }: Setting): string =>
    `Run: alter role ${found.role} in database ${found.database} set ${name} = '${must}';`
  const wrong = settings
    .filter(differs(found.values))
    .map((setting) => `${describe(found.values, setting)} ${setting.advice ?? statement(setting)}`)
  if (wrong.length === 0) return
  const reconnect = pooled ? ['Then let the pooler connect again (RECONNECT).'] : []
  throw new SessionRefusal(
    ['The database has settings with which Pinrail does not work.', ...wrong, ...reconnect].join('\n'),
  )
}

export async function assertSessionAt(options: Pick<DbOptions, 'url'> & Pooled): Promise<void> {
  const db = createDb({ ...options, livemode: false, pool: 1 })
  try {
    await assertSession(db, options)
  } finally {
    await db.close()
  }
}

/** Null for a setting that this version of Postgres does not have. */
type Values = Readonly<Record<string, string | null>>

const differs =
  (values: Values) =>
  ({ name, must, or = [] }: Setting): boolean => {
    const value = values[name] ?? null
    return value !== null && value !== must && !or.includes(value)
  }

const describe = (values: Values, { name, must, because }: Setting): string =>
  `- ${name} is ${values[name]} and must be ${must}: ${because}.`

const sessionRow = z.object({
  role: z.string(),
  database: z.string(),
  values: z.record(z.string(), z.string().nullable()),
})

function readSession(db: Queryable, settings: readonly Setting[]): Promise<z.infer<typeof sessionRow>> {
  const names = settings.map(({ name }) => name)
  // É is character 201 of Unicode and é 233. Other encodings might have neither, and the distance of A and a is the
  // same. In Turkish and Azeri, i is not the lower case of I.
  return one(
    db,
    sessionRow,
    sql`select quote_ident(session_user) as role, quote_ident(current_database()) as database,
          (select jsonb_object_agg(name, current_setting(name, true)) from unnest(${names}::text[]) as name)
            || jsonb_build_object(
              'lc_ctype', case when not 'I' ilike 'i' then 'Turkish'
                when chr(letter) ilike chr(letter + 32) then 'Unicode' else 'ASCII' end,
              'row_security_active', case when row_security_active(to_regclass('public.payment')) then 'on' else 'off' end,
              'pinrail.session', coalesce(current_setting('pinrail.session', true), 'not set'))
            as values
        from (select case current_setting('server_encoding') when 'UTF8' then 201 else 65 end as letter) as asked`,
  )
}
