import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { COMPUTED, COMPUTING } from './computed.ts'
import type { Invariant, Question } from './invariant.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const FILES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => ({ name: file.replace(/\.sql$/, ''), text: readFileSync(`${FOLDER}${file}`, 'utf8') }))

function readHead({ name, text }: (typeof FILES)[number]): Invariant {
  const [, rule, todo] = /^-- (.+)\n-- To do: (.+)\n/.exec(text) ?? []
  if (rule === undefined || todo === undefined) throw new Error(`${name}.sql must begin with its rule and "To do: "`)
  return { name, rule, todo }
}

export const INVARIANTS: readonly Invariant[] = [...FILES.map(readHead), ...COMPUTED].toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
)

/** The most subjects of an invariant: the first ones already show what is wrong. */
const MOST_SUBJECTS = 1000
const differenceRow = z.object({ subject: z.string(), difference: z.string() })

function makeQuestion({ name, text }: (typeof FILES)[number]): Question {
  const isOfPayments = text.includes('$1')
  const whole = `select subject, string_agg(difference, '; ' order by difference) as difference from (\n${text}) as found
    group by subject order by subject limit ${MOST_SUBJECTS}`
  return {
    about: [name],
    isOfPayments,
    async ask(tx, payments) {
      const { rows } = await tx.query(whole, isOfPayments ? [payments] : [])
      return rows.map((row) => ({ invariant: name, ...differenceRow.parse(row) }))
    },
  }
}

export const QUESTIONS: readonly Question[] = [...FILES.map(makeQuestion), COMPUTING]
