import { expect, test } from '@jest/globals'
import { IntlMessageFormat } from 'intl-messageformat'
import { LANGUAGES, LOCALES, type Locale } from '../../../src/web/messages/locales.ts'
import { CATALOGS, type MessageKey } from '../../../src/web/messages/translate.ts'

const KEYS = Object.keys(CATALOGS.en) as MessageKey[]
const OTHERS = LOCALES.filter((locale) => locale !== 'en')

type Part = ReturnType<IntlMessageFormat['getAst']>[number]

/** The placeholders of a message, as the library reads them: `name`, and `name, plural`. */
function namesIn(text: string): string[] {
  return parseParts(text)
    .flatMap((part) => ('options' in part ? [`${part.value}, plural`] : isText(part) ? [] : [getValue(part)]))
    .sort()
}

const parseParts = (text: string): Part[] => new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true }).getAst()
const isText = (part: Part): boolean => part.type === 0
const getValue = (part: Part): string => ('value' in part ? String(part.value) : '')

test.each(OTHERS)('the catalog of %s has the keys of English, and no others', (locale) => {
  expect(Object.keys(CATALOGS[locale]).sort()).toEqual([...KEYS].sort())
})

test.each(OTHERS)('the catalog of %s has the placeholders of English in each text', (locale) => {
  const wrong = KEYS.filter((key) => String(namesIn(CATALOGS[locale][key])) !== String(namesIn(CATALOGS.en[key])))
  expect(wrong).toEqual([])
})

test.each(LOCALES)('the catalog of %s has a text for each of its plurals, and for no others', (locale) => {
  const categories = new Intl.PluralRules(LANGUAGES[locale].formats).resolvedOptions().pluralCategories
  const plurals = KEYS.flatMap((key) => parseParts(CATALOGS[locale][key]).filter((part) => 'options' in part))
  expect(plurals.length).toBe(3)
  for (const part of plurals)
    if ('options' in part) expect(Object.keys(part.options).sort()).toEqual([...categories].sort())
})

test.each(LOCALES)('the catalog of %s uses typographic marks, and has no blanks at the ends of texts', (locale) => {
  const wrong = KEYS.filter((key) => {
    const text = CATALOGS[locale][key]
    return text === '' || text.trim() !== text || /['"<>]|\.\.\.|  |!/.test(text)
  })
  expect(wrong).toEqual([])
})

/** Words that are the same in English and in the other language. */
const SAME: Readonly<Partial<Record<Locale, readonly string[]>>> = {
  de: ['Test', 'Status'],
  fr: ['Test'],
  nl: ['Test', 'Status'],
  pl: ['Test'],
  ro: ['Test', 'Card', 'Transfer'],
  sv: ['Test', 'Status'],
}

test.each(OTHERS)('the catalog of %s leaves no text in English', (locale) => {
  // A message that consists of placeholders has no words: "In {currency}, {about}" is Italian too.
  const same = ['UPI', 'USDC', 'In {currency}, {about}', ...(SAME[locale] ?? [])]
  const left = KEYS.filter((key) => CATALOGS[locale][key] === CATALOGS.en[key])
  expect(left.filter((key) => !same.includes(CATALOGS.en[key]))).toEqual([])
})

/** Characters as a reader counts them; a placeholder counts as five. */
const countCharacters = (text: string): number =>
  [...new Intl.Segmenter().segment(text.replace(/\{[^}]*\}/g, 'xxxxx'))].length

test.each(OTHERS)(
  'the texts of %s need no more room than English: no text is much longer, and no word is wider than a phone',
  (locale) => {
    const single = KEYS.filter((key) => !CATALOGS.en[key].includes(', plural,'))
    const long = single.filter(
      (key) => countCharacters(CATALOGS[locale][key]) > 2 * countCharacters(CATALOGS.en[key]) + 20,
    )
    const wide = single.filter((key) =>
      CATALOGS[locale][key].split(/[\s-]+/).some((word) => countCharacters(word) > 21),
    )
    expect([long, wide]).toEqual([[], []])
  },
)

test('a language of another script has only its own letters around the placeholders', () => {
  const scripts = { el: /\p{Script=Greek}/u, hi: /\p{Script=Devanagari}/u, ar: /\p{Script=Arabic}/u }
  for (const [locale, script] of Object.entries(scripts)) {
    const texts = KEYS.filter((key) => /[a-z]{3}/i.test(CATALOGS.en[key].replace(/\{[^}]*\}|UPI|USDC|the EU/g, '')))
    const foreign = texts.filter((key) => !script.test(CATALOGS[locale as Locale][key]))
    expect([locale, foreign]).toEqual([locale, []])
  }
})
