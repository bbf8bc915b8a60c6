import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '../test/services/databases.ts'
import { startServices } from '../test/services/services.ts'
import { GENERATED } from './generated.ts'
import { readSchema, schemaPage } from './schema.ts'

/**
 * `npm run docs`: writes every file that is generated from the code or, with a separate Postgres, from the migrations.
 */
const write = (path: string, text: string): void => {
  writeFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), text)
  process.stdout.write(`${path}\n`)
}
for (const [path, text] of Object.entries(GENERATED)) write(path, text())

const services = await startServices()
try {
  process.env['PINRAIL_TEST_SERVICES'] = services.url
  const { url } = await createTestDatabase()
  write('docs/schema.md', schemaPage(await readSchema(url)))
} finally {
  await services.stop()
}
