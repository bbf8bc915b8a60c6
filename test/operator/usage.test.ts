import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { runCommand } from '../../src/operator/command.ts'

const run = (...args: string[]): Promise<number> => runCommand({ args, env: {}, say: () => undefined })

/** The commands that the table of docs/settlement.md lists, each with what it is about. */
function documented(): { name: string; subject: string[] }[] {
  const page = readFileSync(new URL('../../docs/settlement.md', import.meta.url), 'utf8')
  const [, rows = ''] = /\n\| command \| [^|]+\|\n\|[- ]+\|[- ]+\|\n((?:\|.*\n)+)/.exec(page) ?? []
  const cells = rows.split('\n').map((row) => row.split('|')[1] ?? '')
  return cells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z]+)(?: (<[^`]+>))?`/g)].map(([, name = '', subject]) => ({
      name,
      subject: subject === undefined ? [] : [subject],
    })),
  )
}

/** The commands that the usage text lists. */
async function used(): Promise<string[]> {
  const usage = await run().then(String, (error: Error) => error.message)
  return [...usage.matchAll(/^ {2}settlement ([a-z]+) /gm)].map(([, name = '']) => name)
}

describe('the commands that docs/settlement.md lists', () => {
  test('are those of the usage text', async () => {
    const names = documented().map(({ name }) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(names.sort()).toEqual((await used()).sort())
  })

  test.each(documented())('$name is known: it asks for the variables, not for another command', async (command) => {
    const { name, subject } = command
    await expect(run('settlement', name, ...subject)).rejects.toThrow('DATABASE_URL: must be set')
  })
})
