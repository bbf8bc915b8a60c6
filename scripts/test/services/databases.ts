import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { ask } from './ask.ts'
import type { PostgresService } from './services.ts'

export type TestDatabase = { url: string; drop(): Promise<void> }

/**
 * Creates an empty database with the newest schema. With `how`, as `create database` takes it, one without a schema.
 */
export async function createTestDatabase(how?: string): Promise<TestDatabase> {
  const { adminUrl, template } = await ask<PostgresService>('/postgres')
  const name = `test_${randomBytes(8).toString('hex')}`
  await asAdmin(adminUrl, `create database ${name} ${how ?? `template ${template}`}`)
  const url = new URL(adminUrl)
  url.pathname = name
  return { url: url.href, drop: () => asAdmin(adminUrl, `drop database ${name} with (force)`) }
}

/** Sets settings of a database's user, as strong as a role's can be. They apply to sessions that begin afterwards. */
export async function setForUser({ url }: TestDatabase, settings: Readonly<Record<string, string>>): Promise<void> {
  const { adminUrl } = await ask<PostgresService>('/postgres')
  const { username, pathname } = new URL(url)
  for (const [name, value] of Object.entries(settings))
    await asAdmin(adminUrl, `alter role ${username} in database ${pathname.slice(1)} set ${name} = '${value}'`)
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
