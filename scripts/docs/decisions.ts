import { readFileSync } from 'node:fs'
import { DECISIONS, payloadOf } from '../../src/domain/payment/decision.ts'
import { ANSWERS } from '../../src/domain/payment/funds/answer.ts'

const PAGE = new URL('../../docs/operations.md', import.meta.url)
const [BEGIN, END] = ['<!-- The table of decisions is written by `npm run docs`. -->\n', '<!-- End of the table. -->\n']

/** docs/operations.md with the table of the operator's decisions as src/domain/payment/decision.ts has it. */
export function operationsPage(): string {
  const [before, rest] = splitAt(readFileSync(PAGE, 'utf8'), BEGIN)
  const [, after] = splitAt(rest, END)
  return `${before}${BEGIN}\n${decisionTable()}\n${END}${after}`
}

function decisionTable(): string {
  const rows = ANSWERS.map((say) => `| \`${say}\` | ${DECISIONS[say]} | \`${payloadOf(say)}\` |`)
  return ['| update | what it does | payload |', '| --- | --- | --- |', ...rows, ''].join('\n')
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at === -1) throw new Error(`docs/operations.md has no line ${mark}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
