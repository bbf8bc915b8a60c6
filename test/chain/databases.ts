import { afterAll } from '@jest/globals'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb, type Db } from '../../src/db/db.ts'

/** A database with a merchant and nothing else, until the test returns it. `reset` restores that state. */
export type FixtureDatabase = { readonly url: string; readonly db: Db; reset(): Promise<void>; giveBack(): void }

type OwnDatabase = { readonly url: string; readonly db: Db; close(): Promise<void> }

const created: OwnDatabase[] = []
const free: OwnDatabase[] = []

/** Borrows a database of this file. It is emptied and not replaced: creating one takes a hundred times as long. */
export async function takeDatabase(): Promise<FixtureDatabase> {
  const own = free.pop() ?? (await createOwnDatabase())
  const reset = async (): Promise<void> => {
    await own.db.query(EMPTY)
    await own.db.query(`insert into merchant (id, name) values ('mer_1', 'shop')`)
  }
  await reset()
  return { url: own.url, db: own.db, reset, giveBack: () => void free.push(own) }
}

async function createOwnDatabase(): Promise<OwnDatabase> {
  const database = await createTestDatabase()
  const { url } = database
  const db = createDb({ url, livemode: false })
  const own = { url, db, close: () => db.close().then(() => database.drop()) }
  created.push(own)
  return own
}

afterAll(async () => void (await Promise.all(created.map((own) => own.close()))))

/** Copies the database into another one: a dump to be restored later. */
export async function copyDatabase(source: Db): Promise<FixtureDatabase> {
  const copy = await takeDatabase()
  const { rows: tables } = await source.query(TABLES)
  await copy.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    for (const { name } of tables as { name: string }[]) {
      const { rows: written } = await source.query(
        `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
        [name],
      )
      const { columns } = written[0] as { columns: string }
      const { rows } = await source.query(`select array_agg(t::text) as rows from ${name} t`)
      await tx.query(`delete from ${name}`)
      await tx.query(
        `insert into ${name} (${columns}) overriding system value
         select ${columns} from (select (row::${name}).* from unnest($1::text[]) row) stored`,
        [(rows[0] as { rows: string[] | null }).rows ?? []],
      )
    }
    const { rows: sequences } = await source.query(
      `select format('%I', sequencename) as name, last_value as value from pg_sequences where last_value is not null`,
    )
    for (const { name, value } of sequences as { name: string; value: string }[])
      await tx.query('select setval($1::regclass, $2)', [name, value])
  })
  return copy
}

/** The tables of a fixture: all except that of the migrations. */
const TABLES = `
  select oid::regclass::text as name from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migration'`

/** Empties each table, without the triggers that protect some rows from deletion. */
const EMPTY = `
  do $$
  declare
    one record;
  begin
    set local session_replication_role = replica;
    for one in ${TABLES} loop
      execute format('delete from %s', one.name);
    end loop;
    perform setval(seqrelid::regclass, seqstart, false) from pg_sequence;
  end
  $$`
