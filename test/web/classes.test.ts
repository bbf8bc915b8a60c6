import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const WEB = fileURLToPath(new URL('../../src/web/', import.meta.url))

const readAll = (kinds: RegExp): string[] =>
  readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((name) => kinds.test(name))
    .map((name) => readFileSync(`${WEB}${name}`, 'utf8'))

/** The classes in the selectors of the style sheets. */
const styled = new Set(
  readAll(/\.css$/)
    .flatMap((sheet) => sheet.replace(/\/\*[\s\S]*?\*\//g, '').match(/[^{}]+(?=\{)/g) ?? [])
    .flatMap((selector) => selector.match(/(?<=\.)[a-z][\w-]*/g) ?? []),
)

test('each class of a style sheet is in the code of a page or a script', () => {
  const code = readAll(/\.(tsx?|js)$/)
  const quoted = code.flatMap((text) => text.match(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g) ?? [])
  const words = new Set(quoted.flatMap((text) => text.match(/[\w-]+/g) ?? []))
  expect([...styled].filter((name) => !words.has(name))).toEqual([])
})

test('each class of a page is in a style sheet', () => {
  const named = readAll(/\.tsx$/).flatMap((text) => [...text.matchAll(/\b(?:class|look)(?:="|: ')([\w -]*)["']/g)])
  const used = new Set(named.flatMap(([, names = '']) => names.split(' ')))
  expect([...used].filter((name) => name !== '' && !styled.has(name))).toEqual([])
})
