import { readMigrationUrl } from '../../config/config.ts'
import { migrate } from '../../db/migrate.ts'
import type { Call } from '../call.ts'

export async function migrateDatabase({ env, say }: Pick<Call, 'env' | 'say'>): Promise<number> {
  await migrate(readMigrationUrl(env))
  say('the database has the newest schema')
  return 0
}
