import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GENERATED } from './generated.ts'

/** `npm run docs`: writes every file that is generated from the code. */
for (const [path, write] of Object.entries(GENERATED)) {
  writeFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), write())
  process.stdout.write(`${path}\n`)
}
