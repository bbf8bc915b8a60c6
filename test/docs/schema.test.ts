import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readSchema, type Schema, schemaPage } from '../../scripts/docs/schema.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'

let database: TestDatabase
let schema: Schema
beforeAll(async () => {
  database = await createTestDatabase()
  schema = await readSchema(database.url)
})
afterAll(() => database?.drop())

test('docs/schema.md equals the output of `npm run docs`', () => {
  const page = fileURLToPath(new URL('../../docs/schema.md', import.meta.url))
  expect(readFileSync(page, 'utf8')).toBe(schemaPage(schema))
})

test('every table, view and domain has a comment', () => {
  const all = [...schema.relations, ...schema.domains]
  expect(all.length).toBeGreaterThan(60)
  expect(all.filter(({ comment }) => comment === null).map(({ name }) => name)).toEqual([])
})

test('docs/schema.md has every table and view', () => {
  const page = schemaPage(schema)
  expect(schema.relations.filter(({ name }) => !page.includes(`\n### \`${name}\`\n`))).toEqual([])
})
