import { readFileSync } from 'node:fs'
import { INVARIANTS } from '../../src/db/invariants/invariants.ts'
import { DECISIONS, describePayload } from '../../src/domain/payment/decision.ts'
import { ANSWERS } from '../../src/domain/payment/funds/answer.ts'

const PAGES = new URL('../../docs/', import.meta.url)
const END = '<!-- End of the table. -->\n'

/** docs/decide.md with the table of the operator's decisions, as the code has them. */
export const decidePage = (): string => withTable('decide.md', 'decisions', decisionTable())

/** docs/operations.md with the table of what must hold. */
export const operationsPage = (): string => withTable('operations.md', 'invariants', invariantTable())

function withTable(file: string, name: string, table: string): string {
  const page = readFileSync(new URL(file, PAGES), 'utf8')
  const begin = `<!-- The table of ${name} is written by \`npm run docs\`. -->\n`
  const [before, rest] = splitAt(page, begin)
  const [, after] = splitAt(rest, END)
  return `${before}${begin}\n${table}\n${END}${after}`
}

function decisionTable(): string {
  const rows = ANSWERS.map((say) => `| \`${say}\` | ${DECISIONS[say]} | \`${describePayload(say)}\` |`)
  return ['| update | what it does | payload |', '| --- | --- | --- |', ...rows, ''].join('\n')
}

function invariantTable(): string {
  const rows = INVARIANTS.map(({ name, rule, todo }) => `| \`${name}\` | ${rule} | ${todo} |`)
  return ['| invariant | what must hold | what to do |', '| --- | --- | --- |', ...rows, ''].join('\n')
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at === -1) throw new Error(`the page has no line ${mark}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
