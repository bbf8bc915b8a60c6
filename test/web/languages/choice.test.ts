import { expect, test } from '@jest/globals'
import { localeFor } from '../../../src/web/messages/locales.ts'

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-CH', 'de'],
  ['DE-at', 'de'],
  ['fr;q=0.4, de;q=0.8', 'de'],
  ['ja, zh;q=0.9, sv;q=0.1', 'sv'],
  ['ja', 'en'],
  ['*', 'en'],
  ['de;q=0, it;q=0.1', 'it'],
  ['pl, de', 'pl'],
  ['de;q=nonsense, nl;q=0.1', 'nl'],
  ['de;q=5', 'en'],
  [`${'xx,'.repeat(5000)}de`, 'en'],
])('Accept-Language %s is answered in %s', (header, locale) => {
  expect(localeFor(header)).toBe(locale)
})
