import { fileURLToPath } from 'node:url'
import { sourceFiles } from './files.ts'
import { readImports, unclearImports } from './graph.ts'
import { brokenRules, misplacedRooms, ROOMS } from './rooms.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** `npm run check:imports`: reports each import that `rooms.ts` does not allow. */
const files = sourceFiles(ROOT)
const problems = [...misplacedRooms(ROOMS), ...unclearImports(ROOT, files), ...brokenRules(readImports(ROOT, files))]
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
