import { readFileSync } from 'node:fs'
import { DECISIONS } from '../../src/domain/payment/decision.ts'
import { OPERATOR_DECISIONS } from '../../src/domain/payment/requests.ts'

const PAGE = new URL('../../docs/operations.md', import.meta.url)
const [BEGIN, END] = ['<!-- The table of decisions is written by `npm run docs`. -->\n', '<!-- End of the table. -->\n']

/** docs/operations.md with the table of the operator's decisions as src/domain/payment/decision.ts has it. */
export function operationsPage(): string {
  const [before, rest] = splitAt(readFileSync(PAGE, 'utf8'), BEGIN)
  const [, after] = splitAt(rest, END)
  return `${before}${BEGIN}\n${decisionTable()}\n${END}${after}`
}

function decisionTable(): string {
  const rows = OPERATOR_DECISIONS.map((decision) => {
    const { does, rule, late } = DECISIONS[decision]
    return `| \`${decision}\` | ${does} | ${[rule, ...late].map(({ when }) => when).join('; ')} |`
  })
  return ['| update | what it does | refused when |', '| --- | --- | --- |', ...rows, ''].join('\n')
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at === -1) throw new Error(`docs/operations.md has no line ${mark}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
