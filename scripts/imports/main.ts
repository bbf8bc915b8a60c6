import { fileURLToPath } from 'node:url'
import { crowdedFolders, sourceFiles } from './files.ts'
import { readImports, unclearImports } from './graph.ts'
import { brokenRules, misplacedRooms, ROOMS } from './rooms.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** `npm run check:imports`: who may import whom, and how many files a folder may have. */
const files = sourceFiles(ROOT)
const problems = [
  ...misplacedRooms(ROOMS),
  ...unclearImports(ROOT, files),
  ...brokenRules(readImports(ROOT, files)),
  ...crowdedFolders(files),
]
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
