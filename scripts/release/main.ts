import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findMistakes, readNotes } from './release.ts'

/** `npm run release -- v1.0.0`: prints the notes of the release. Exits with 1 if the tag cannot be released. */

const ROOT = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8')

const [tag = ''] = process.argv.slice(2)
const mistakes = findMistakes(tag, read)
for (const mistake of mistakes) process.stderr.write(`${mistake}\n`)
if (mistakes.length === 0)
  process.stdout.write(`${readNotes(read('CHANGELOG.md'), tag.replace(/^v/, ''))?.text ?? ''}\n`)
process.exitCode = mistakes.length === 0 ? 0 : 1
