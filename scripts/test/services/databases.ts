import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { ask } from './ask.ts'
import type { PostgresService } from './services.ts'

export type TestDatabase = { url: string; drop(): Promise<void> }

/** A new, empty database with the newest schema. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { adminUrl, template } = await ask<PostgresService>('/postgres')
  const name = `test_${randomBytes(8).toString('hex')}`
  await asAdmin(adminUrl, `create database ${name} template ${template}`)
  const url = new URL(adminUrl)
  url.pathname = name
  return { url: url.href, drop: () => asAdmin(adminUrl, `drop database ${name} with (force)`) }
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
