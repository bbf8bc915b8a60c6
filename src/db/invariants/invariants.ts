import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import * as booksAreThePositions from './books_are_the_positions.ts'
import type { Invariant } from './invariant.ts'
import * as paymentIsAsComputed from './payment_is_as_computed.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const differenceRow = z.object({ subject: z.string(), difference: z.string() })

/** An invariant of the whole has few subjects: if it has more, the first ones say what is wrong. */
const MOST_SUBJECTS = 1000

function fromSql(file: string): Invariant {
  const text = readFileSync(`${FOLDER}${file}`, 'utf8')
  const [, rule = '', todo = ''] = /^-- (.+)\n-- To do: (.+)\n/.exec(text) ?? []
  const isOfPayments = text.includes('$1')
  const whole = `select subject, string_agg(difference, '; ' order by difference) as difference from (\n${text}) as found
    group by subject order by subject limit ${MOST_SUBJECTS}`
  return {
    name: file.replace(/\.sql$/, ''),
    rule,
    todo,
    isOfPayments,
    find: async (tx, payments) => {
      const { rows } = await tx.query(whole, isOfPayments ? [payments] : [])
      return rows.map((row) => differenceRow.parse(row))
    },
  }
}

/** Those that ask the domain what it makes of the rows. */
const COMPUTED: readonly Invariant[] = Object.entries({
  books_are_the_positions: booksAreThePositions,
  payment_is_as_computed: paymentIsAsComputed,
}).map(([name, { RULE, TODO, find }]) => ({ name, rule: RULE, todo: TODO, isOfPayments: true, find }))

/** In the order of their names. */
export const INVARIANTS: readonly Invariant[] = [
  ...readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .map(fromSql),
  ...COMPUTED,
].toSorted((a, b) => (a.name < b.name ? -1 : 1))
