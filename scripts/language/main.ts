import { fileURLToPath } from 'node:url'
import { runLanguage } from './command.ts'

/**
 * `npm run check:language` compares every file with the baseline. `npm run language -- src/db` lists all findings of a
 * folder. `npm run language -- --record` writes the baseline: numbers fall and never rise. After a merge,
 * `npm run language -- --record-all` records what is found.
 */
const { lines, passed } = runLanguage(fileURLToPath(new URL('../..', import.meta.url)), process.argv.slice(2))
for (const line of lines) process.stdout.write(`${line}\n`)
process.exitCode = passed ? 0 : 1
