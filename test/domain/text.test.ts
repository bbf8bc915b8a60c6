import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { nameProblem } from '../../src/domain/account/name.ts'
import {
  characterClass,
  hasCharacters,
  isSafeText,
  isVisible,
  plainLine,
  storedReference,
  storedText,
  toSkeleton,
  withoutCharacters,
} from '../../src/domain/text.ts'

const codePoints = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff)

test('every default ignorable character of Unicode is invisible or turns the direction of reading', () => {
  const missed = codePoints
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character))
    .filter((character) => !hasCharacters(character, 'invisible', 'turn'))
  expect(missed).toEqual([])
})

test('no letter, digit or sign of any script counts as unseen', () => {
  const unseen = codePoints
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}\p{P}\p{S}]/u.test(character))
    .filter((character) => !isVisible(character))
  // The blank pattern of Braille is a sign only by its class.
  expect(unseen).toEqual(['\u2800'])
})

test.each([
  '',
  ' ',
  '\u00a0\u3000',
  '\u200b\u200d',
  '\u3164',
  '\u2800',
  '\ufeff',
  '\u{e0020}',
  '\t\n',
  '\u0300',
  ' \u20dd\u200b',
])('%j shows nothing to a person', (text) => {
  expect(isVisible(text)).toBe(false)
})

test.each(['a', 'e\u0301', '·', '0', '👩‍🚀', 'می‌خواهم', '\u200b1'])('%j is visible to a person', (text) => {
  expect(isVisible(text)).toBe(true)
})

test.each([
  ['a\u202eb', 'line', false],
  ['a\nb', 'line', false],
  ['a\u2028b', 'line', false],
  ['a\nb\tc', 'lines', true],
  ['one fine\nunderline', 'lines', true],
  ['a\u0000b', 'lines', false],
  ['a\u2066b', 'lines', false],
  ['a\ud800b', 'lines', false],
  ['👨‍👩‍👧 می‌خواهم', 'line', true],
] as const)('the text %j as %s is safe: %j', (text, kind, safe) => {
  expect(isSafeText(text, kind)).toBe(safe)
})

test('a pattern of the document and the code agree about each character that needs no surrogates', () => {
  const pattern = new RegExp(`^[^${characterClass()}]$`)
  const different = codePoints
    .filter((code) => code < 0x10000)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => pattern.test(character) !== isVisible(character))
  expect(different).toEqual([])
})

test('a search for any spelling of a stored text looks for the stored form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const form of ['NFC', 'NFD'] as const) expect(storedText(text.normalize(form))).toBe(storedText(text))
    }),
  )
})

test('text is stored composed, and a reference without invisible characters', () => {
  expect(storedText('cafe\u0301\u200b')).toBe('caf\u00e9\u200b')
  expect(storedReference('cafe\u0301\u200b-7')).toBe('caf\u00e9-7')
})

test('a plain line has no breaks, no controls and no hidden characters', () => {
  expect(plainLine(' Anna\u202e\r\nShop\u200b\u0007 ')).toBe('Anna Shop')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(hasCharacters(plainLine(text), 'control', 'break', 'turn', 'invisible')).toBe(false)
      expect(plainLine(plainLine(text))).toBe(plainLine(text))
    }),
  )
})

test('removing characters leaves the others unchanged', () => {
  expect(withoutCharacters('a\u200bb\u202ec\nd', 'invisible', 'turn')).toBe('abc\nd')
})

test.each([
  'Pinrail',
  'PINRAIL',
  'p i n r a i l',
  'Pin-Rail',
  'Рinrаil',
  'Ρinrail',
  'ｐｉｎｒａｉｌ',
  'P1nra1l',
  'PlNRAIL',
  'pin\u200brail',
  'pínràil',
  '𝗣𝗶𝗻𝗿𝗮𝗶𝗹',
  'The Pinrail team',
  'Pinraił',
  'Pinraiɫ',
  'Pɨnrail',
  'Ƥinrail',
  'ᏢIΝRAIL',
  'Piոrail',
  '🅿🅸🅽🆁🅰🅸🅻',
  '🅟🅘🅝🅡🅐🅘🅛',
])('an account cannot be called %j, which reads as the platform’s name', (name) => {
  expect(nameProblem(name, 'Pinrail')).toContain('name of Pinrail')
})

test.each([
  ['Nordpay Support', 'Nordpay', 'must not contain the name of Nordpay'],
  ['N0rd-Pay', 'Nord Pay', 'must not contain the name of Nord Pay'],
  ['Ｑi', 'QI', 'must not contain the name of QI'],
  ['Qigong School', 'QI', null],
  ['Arkadia Rails', 'Arka', 'must not contain the name of Arka'],
  ['The Pinrail team', 'Nordpay', null],
])('the name %j on the platform %j gets the answer %j', (name, platform, problem) => {
  expect(nameProblem(name, platform)).toBe(problem)
})

test.each([
  'https://shop.example',
  'shop.example',
  'Visit evil.com now',
  'evil．com',
  'evil。com',
  'evil·com',
  'evil․com',
  'evil[.]com',
  'evil (dot) com',
  'evil dot com',
  'evil .com',
  'e\u200bvil.c\u200bom',
  'evil.c\u202eom',
  '7.shop',
  'пример.рф',
  't.me/anna',
  'anna@shop.example',
  'www.shop',
  'hxxp://evil',
  '192.168.1.1',
])('an account cannot be called %j, which reads as a web address', (name) => {
  expect(nameProblem(name, 'Pinrail')).toContain('web address')
})

test.each([
  'Nightline Rail',
  'Anna & Söhne',
  'St. Gallen Bücher',
  'Dr. Oetker',
  'Müller GmbH & Co. KG',
  'Verein e.V.',
  'U.S. Foods',
  'No. 5',
  'Version 1.10',
  'Polka Dot Shoes',
  'Wäscherei 24/7',
  'Кафе Пушкин',
  '寿司屋',
  'Ph.D. Books',
  'Rail & Pin',
])('an account can be called %j', (name) => {
  expect(nameProblem(name, 'Pinrail')).toBeNull()
})

test('a sentence in letters that look like Latin ones has its skeleton', () => {
  const sentence = toSkeleton('the quick brown fox jumps over the lazy dog')
  expect(toSkeleton('ᴛʜᴇ ԛᴜɪᴄᴋ ʙʀᴏᴡɴ fᴏх ᴊᴜᴍᴘꜱ ᴏᴠᴇʀ ᴛʜᴇ ʟᴀᴢʏ ᴅᴏɢ')).toBe(sentence)
})

test('characters that nobody sees do not change a skeleton', () => {
  for (const hidden of ['a\u200bpple', 'a\u202epple', 'a\u0007pple'])
    expect(toSkeleton(hidden)).toBe(toSkeleton('apple'))
})

test('texts that look alike have one skeleton, and another word has another', () => {
  expect(toSkeleton('Αpple')).toBe(toSkeleton('apple'))
  expect(toSkeleton('apple')).not.toBe(toSkeleton('apply'))
})
