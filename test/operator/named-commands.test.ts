import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { ANSWERS } from '../../src/domain/payment/funds/answer.ts'
import { PAYMENT_STATUSES } from '../../src/domain/payment/payment.ts'
import type { Command } from '../../src/operator/call.ts'
import { COMMANDS } from '../../src/operator/commands.ts'

/** A person types what a text names: it must exist. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GENERAL = ['help', 'json']
const GROUPS = new Set(COMMANDS.map(({ words }) => words.split(' ')[0]))

/** The commands that the text names, from their first word to the end of the line, or to the mark that ends them. */
function findNamed(text: string): string[] {
  const placed = text.replaceAll(/(?:<[a-z][\w ]*>|\$\{[^}]*\}|pay_…)+/g, 'X')
  const found = [...placed.matchAll(/\bpinrail (?:-- )?([a-z][^`\\\n.,;:|"()]*)/g)].map(([, words = '']) =>
    words.trim(),
  )
  // Other words after the name are prose, such as “pinrail must”.
  return found.filter((words) => GROUPS.has(words.split(' ')[0]))
}

const isNamed = ({ words }: Command, named: string): boolean => `${named} `.startsWith(`${words} `)

/**
 * Returns the part of the named command that does not exist. Null: it exists. A group alone, such as `settlement`,
 * names all of it.
 */
function findMistake(named: string): string | null {
  if (GROUPS.has(named.replace(/ X$/, ''))) return null
  const command = COMMANDS.find((one) => isNamed(one, named))
  if (command === undefined) return `no command ${named}`
  const options = new Set([...GENERAL, ...(command.options ?? []).map((option) => option.replace('!', ''))])
  const stranger = [...named.matchAll(/ --([a-z-]+)/g)].map(([, name = '']) => name).find((name) => !options.has(name))
  if (stranger !== undefined) return `no option --${stranger} of ${command.words}`
  const status = / --status (\w+)/.exec(named)?.[1]
  if (command.words === 'payments find' && status !== undefined && !PAYMENT_STATUSES.some((one) => one === status))
    return `no status ${status}`
  const [, decision = 'X'] = named.slice(command.words.length).trim().split(' ')
  const isDecision = decision === 'X' || decision.startsWith('-') || ANSWERS.some((say) => say === decision)
  return command.words === 'payments decide' && !isDecision ? `no decision ${decision}` : null
}

const listFiles = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => `${folder}/${name}`)

const FILES = [
  'README.md',
  ...listFiles('docs', /\.md$/).filter((name) => !name.startsWith('docs/decisions/')),
  ...listFiles('ops', /\.(?:md|ya?ml|json)$/),
  ...listFiles('src', /\.(?:tsx?|sql)$/),
  ...listFiles('scripts', /\.ts$/),
]

describe('A command that a text names', () => {
  const named = FILES.flatMap((file) =>
    findNamed(readFileSync(join(ROOT, file), 'utf8')).map((words) => ({ file, words })),
  )

  test('a named command exists, with its options and its decision', () => {
    expect(named.length).toBeGreaterThan(100)
    const mistakes = named.flatMap(({ file, words }) => {
      const mistake = findMistake(words)
      return mistake === null ? [] : [`${file}: ${mistake}`]
    })
    expect(mistakes).toEqual([])
  })

  test.each([
    ['Then `pinrail payments decide <payment> retry`, or', 'no decision retry'],
    ['run \\`pinrail settlement hold ${id}\\`', 'no command settlement hold X'],
    ['npm run pinrail -- payments explain pay_… --version 7', 'no option --version of payments explain'],
    ['`pinrail payments find --status converting`', 'no status converting'],
    ['`pinrail payments decide pay_… settle --version 7`', null],
    ['The commands of `pinrail settlement` need them', null],
  ])('a named command is found in “%s”', (text, mistake) => {
    expect(findNamed(text).map(findMistake)).toEqual([mistake])
  })
})
