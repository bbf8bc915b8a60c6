import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { tryLock } from '../setup/lock.mjs'
import type { Progress } from '../setup/progress.mjs'
import { readMemory } from '../system/data-folder.ts'
import { ChildRecords } from '../system/recorded.ts'

/** `npm run reset`: deletes everything that `npm start` stores. Refuses a folder that is not a data folder. */
export async function main(args: string[], progress: Progress): Promise<void> {
  const { values } = parseArgs({ args, options: { data: { type: 'string' } } })
  const path = resolve(values.data ?? process.env['PINRAIL_DATA'] ?? '.data')
  if (!existsSync(path) || readdirSync(path).length === 0) return progress.line(`nothing in ${path}`)
  const memory = readMemory(path)
  if (memory === null)
    throw new Error(`${path} has no dev.json, so it is not a data folder of npm start: left as it is`)
  const lock = tryLock(join(path, 'lock'))
  if (!lock.ok)
    throw new Error(`${path} is in use by process ${lock.holder.pid}. End it first: kill ${lock.holder.pid}`)
  await new ChildRecords(path).endLeftovers(progress.line)
  // Postgres' data may be in a separate folder.
  if (!memory.postgresFolder.startsWith(path)) rmSync(dirname(memory.postgresFolder), { recursive: true, force: true })
  rmSync(path, { recursive: true, force: true })
  progress.line(`${path} is deleted; \`npm start\` starts from scratch`)
}
