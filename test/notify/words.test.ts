import { expect, test } from '@jest/globals'
import { IntlMessageFormat } from 'intl-messageformat'
import { NOTIFICATION_LANGUAGES } from '../../src/domain/notification/channel.ts'
import { composeMessage } from '../../src/notify/compose.ts'
import { plainText } from '../../src/notify/text.ts'
import { WORDS, wordsOf } from '../../src/notify/words/languages.ts'
import { LOCALES } from '../../src/web/messages/locales.ts'

const OTHERS = NOTIFICATION_LANGUAGES.filter((language) => language !== 'en')
type Language = (typeof NOTIFICATION_LANGUAGES)[number]
const textsOf = (language: Language): Record<string, string> => {
  const { happened, ...rest } = WORDS[language]
  return { ...rest, ...happened }
}
const partsOf = (text: string) => new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true }).getAst()
const namesIn = (text: string): string[] =>
  partsOf(text).flatMap((part) => (part.type === 0 ? [] : [String('value' in part && part.value)]))

test('channels are told in the languages of the checkout', () => {
  expect([...NOTIFICATION_LANGUAGES]).toEqual([...LOCALES])
})

test.each(OTHERS)('%s has the keys and placeholders of English, and no text in English', (language) => {
  const [own, english] = [textsOf(language), textsOf('en')]
  expect(Object.keys(own).toSorted()).toEqual(Object.keys(english).toSorted())
  const wrong = Object.keys(english).filter(
    (key) => String(namesIn(own[key] ?? '')) !== String(namesIn(english[key] ?? '')),
  )
  expect(wrong).toEqual([])
  const left = Object.keys(english).filter((key) => own[key] === english[key])
  expect(left).toEqual([])
})

test.each(NOTIFICATION_LANGUAGES)(
  '%s has a text for each of its plurals, for no others, and the marks of print',
  (language) => {
    const categories = new Intl.PluralRules(language === 'pt' ? 'pt-PT' : language).resolvedOptions().pluralCategories
    for (const text of [WORDS[language].many, WORDS[language].more])
      for (const part of partsOf(text))
        expect('options' in part && Object.keys(part.options).toSorted()).toEqual([...categories].toSorted())
    for (const text of Object.values(textsOf(language)))
      expect([text, text === '' || text.trim() !== text || /['"<>]|\.\.\.| {2}|!/.test(text)]).toEqual([text, false])
  },
)

test.each(NOTIFICATION_LANGUAGES)('%s counts with digits that everybody reads', (language) => {
  expect(wordsOf(language).many(137)).toContain('137')
})

test('what has no words is told all the same', () => {
  for (const kind of ['constructor', 'something.new']) expect(wordsOf('de').nameOf(kind)).toBe('Etwas ist geschehen')
})

test.each([
  [
    'payout.held',
    { id: 'pay_01m7z134d8fetv1hwd26y1yksm', reason: 'refused' },
    '/dashboard/payments/pay_01m7z134d8fetv1hwd26y1yksm',
  ],
  ['api_key.created', { name: 'Shop server' }, '/dashboard/keys'],
  ['sign_in.new', { email: 'you@shop.example' }, '/dashboard/account'],
  ['channel.broken', { name: '#payments', reason: 'its address cannot be read' }, '/dashboard/notifications'],
])('%s names what it is about, and leads there, in every language', (kind, data, path) => {
  for (const language of NOTIFICATION_LANGUAGES) {
    const told = [{ kind, at: '2026-11-22T10:00:00.000Z', data }]
    const message = { id: 'ncm_1', account: 'Shop', told, repeated: false, stopUrl: null }
    const { text } = plainText(
      composeMessage(message, { language }, { publicUrl: 'https://pay.example', testMode: false }),
    )
    expect(text).toContain(wordsOf(language).nameOf(kind))
    expect(text).not.toContain(wordsOf(language).other)
    expect(text.endsWith(`https://pay.example${path}`)).toBe(true)
  }
})
