import { migrate } from '../src/db/migrate.ts'

/** `npm run migrate`: brings the database in DATABASE_URL to the newest schema; safe to run from several places at once. */
const url = process.env['DATABASE_URL']
if (!url) throw new Error('DATABASE_URL is not set')
await migrate(url)
