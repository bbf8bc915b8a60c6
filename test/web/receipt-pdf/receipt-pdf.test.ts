import { describe, expect, test } from '@jest/globals'
import { renderReceipt } from '../../../src/web/checkout/page.tsx'
import { LANGUAGES, LOCALES, type Locale } from '../../../src/web/messages/locales.ts'
import { wordsIn } from '../../../src/web/messages/words.ts'
import { splitRuns } from '../../../src/web/receipt-pdf/bidi.ts'
import { getReceiptContent } from '../../../src/web/receipt-pdf/content.ts'
import { renderReceiptPdf } from '../../../src/web/receipt-pdf/receipt-pdf.ts'
import { layOutReceipt, MARGIN, SHEET } from '../../../src/web/receipt-pdf/sheet.ts'
import type { Placed } from '../../../src/web/receipt-pdf/typeset.ts'
import { PICTURES } from '../../api/support/pictures.ts'
import { PLATFORM } from '../../support/platforms.ts'
import { aCheckout, type CheckoutChanges } from '../fixtures.ts'
import { readText } from '../reading.ts'
import { BY_STATUS, SITUATIONS } from '../situations.ts'

const words = (locale: Locale) => wordsIn(locale, 'DE')
const getContent = (changes: CheckoutChanges, locale: Locale) => getReceiptContent(aCheckout(changes), words(locale))
const makePdf = (
  changes: CheckoutChanges,
  locale: Locale = 'en',
  readLogo: (name: string) => Promise<Buffer | null> = async () => null,
) => renderReceiptPdf(aCheckout(changes), words(locale), readLogo)
const createPdf = async (changes: CheckoutChanges, locale: Locale = 'en'): Promise<string> => {
  const pdf = await makePdf(changes, locale)
  if (pdf === null) throw new Error('no face for it')
  return pdf.toString('latin1')
}

const SHOP = { name: 'Nightline Rail', supportEmail: 'help@nightline.example' }
const REAL: CheckoutChanges = { ...BY_STATUS.succeeded, shop: SHOP }
const OVERPAID: CheckoutChanges = { ...SITUATIONS['more than the price'], shop: SHOP, platform: PLATFORM }

/** The longest texts and the longest word that the API accepts. */
const LONG: CheckoutChanges = {
  shop: {
    name: 'Donaudampfschifffahrtsgesellschaft '.repeat(3).slice(0, 100),
    supportEmail: `${'a'.repeat(60)}@b.example`,
  },
  payment: { status: 'succeeded', description: 'Unbreakable'.repeat(46).slice(0, 500), reference: 'R'.repeat(200) },
  attempts: REAL.attempts ?? [],
}

const listTexts = ({
  shop,
  supportEmail,
  heading,
  lines,
  facts,
  check,
  foot,
}: ReturnType<typeof getContent>): string[] => [
  shop,
  supportEmail ?? '',
  heading,
  check.heading,
  check.text,
  check.url,
  foot.text,
  foot.addresses,
  ...lines.flatMap(({ what, amount }) => [what.text, amount]),
  ...facts.flatMap(({ name, value }) => [name, value.text]),
]

const measureRight = ({ face, text, x, style }: Placed): number =>
  x + (face.font.layout(text).advanceWidth / face.font.unitsPerEm) * style.size

describe.each(LOCALES)('The receipt in %s', (locale) => {
  test('the file is one page in its language with its own fonts, and has the texts of the page', async () => {
    const pdf = await createPdf(OVERPAID, locale)
    expect(pdf.startsWith('%PDF-')).toBe(true)
    expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(1)
    expect(pdf).toContain(`/Lang (${locale})`)
    expect(pdf.match(/\/FontFile2/g)?.length).toBeGreaterThan(0)
    expect(pdf).not.toMatch(/\/BaseFont \/(Helvetica|Times)/)
    const page = readText(renderReceipt(aCheckout(OVERPAID), words(locale)))
    for (const text of listTexts(getContent(OVERPAID, locale))) expect(page).toContain(text.replace(/\s+/g, ' '))
  })

  test.each([
    ['usual', OVERPAID],
    ['longest', LONG],
  ])('each word of the receipt is on the sheet, within its margins (%s texts)', (_name, changes) => {
    const content = getContent(changes, locale)
    const { placed, code, bottom } = layOutReceipt(content, LANGUAGES[locale].dir)
    expect(bottom).toBeLessThan(SHEET.height - MARGIN / 2)
    expect(code.top + code.side).toBeLessThan(bottom)
    for (const each of placed)
      expect([each.text, each.x > MARGIN - 1, measureRight(each) < SHEET.width - MARGIN + 1]).toEqual([
        each.text,
        true,
        true,
      ])
    const set = placed.map(({ text }) => text).join('')
    const letters = (text: string): string =>
      Array.from(text.replace(/[\s\p{Cf}]/gu, ''))
        .toSorted()
        .join('')
    expect(letters(set)).toBe(letters(listTexts(content).join('')))
  })
})

test('in Arabic the receipt is mirrored: the amount is on the left, its label on the right', () => {
  const placed = (locale: Locale) => layOutReceipt(getContent(REAL, locale), LANGUAGES[locale].dir).placed
  const findX = (locale: Locale, part: string): number =>
    placed(locale).find(({ text }) => text.includes(part))?.x ?? -1
  expect(findX('en', '49.99')).toBeGreaterThan(findX('en', 'Paid'))
  expect(findX('ar', '49.99')).toBeGreaterThan(0)
  expect(findX('ar', '49.99')).toBeLessThan(SHEET.width / 2)
  expect(measureRight(placed('ar').find(({ style }) => style.size === 26) as Placed)).toBeCloseTo(
    SHEET.width - MARGIN,
    0,
  )
})

test('a test receipt has TEST across it, and a real one does not', async () => {
  expect(await createPdf(SITUATIONS['paid in test mode'])).toContain('/ca 0.13')
  expect(await createPdf(REAL)).not.toContain('/ca ')
})

test('a name in a script without a font gives no file, and emoji are left out', async () => {
  const named = (name: string) => makePdf({ ...REAL, shop: { name } })
  expect(await named('東京駅')).toBeNull()
  expect(await named('Ночной поезд')).not.toBeNull()
  expect(await named('قطار الليل')).not.toBeNull()
  const sheet = layOutReceipt(getContent({ ...REAL, shop: { name: 'Nightline 🚆 Rail' } }, 'en'), 'ltr')
  expect(sheet.placed[0]?.text).toBe('Nightline Rail')
})

test.each([
  ['of the widest Latin letters', 'W'.repeat(500)],
  ['of Cyrillic capitals', 'Щ'.repeat(500)],
])('texts %s, which do not fit on one page, give no file, because a receipt must be complete', async (_name, text) => {
  const changes = { ...LONG, payment: { ...LONG.payment, description: text, reference: text.slice(0, 200) } }
  expect(layOutReceipt(getContent(changes, 'en'), 'ltr').bottom).toBeGreaterThan(SHEET.height - MARGIN)
  expect(await makePdf(changes)).toBeNull()
})

test('the same receipt is rendered once, and another receipt separately', async () => {
  expect(await makePdf(REAL)).toBe(await makePdf(REAL))
  expect(await makePdf(REAL)).not.toBe(await makePdf(REAL, 'de'))
  expect(await makePdf(REAL)).not.toBe(await makePdf(OVERPAID))
})

test('a line of both directions is drawn from left to right, with brackets that open to their own side', () => {
  const arabic = 'بطاقة (تجربة) لدى Velanto 49.99'
  expect(splitRuns(arabic, 'rtl', false)).toEqual([
    { text: 'Velanto 49.99', rtl: false },
    { text: 'بطاقة )تجربة( لدى ', rtl: true },
  ])
  expect(splitRuns('Velanto', 'rtl', true)).toEqual([{ text: 'Velanto', rtl: false }])
  expect(splitRuns('\u2066قطار\u2069', 'ltr', false)).toEqual([{ text: 'قطار', rtl: true }])
})

test('after a failed read of the logo, the next file contains it', async () => {
  const changes = { ...REAL, shop: { ...SHOP, logo: '4567.png' } }
  const fail = () => Promise.reject(new Error('no database'))
  await expect(makePdf(changes, 'en', fail)).rejects.toThrow('no database')
  const pdf = await makePdf(changes, 'en', async () => PICTURES.png)
  expect(pdf?.toString('latin1')).toContain('/Subtype /Image')
})

test.each(['png', 'jpg'] as const)('a logo in %s is in the file, and moves the name to its side', async (kind) => {
  const changes = { ...REAL, shop: { ...SHOP, logo: `0123.${kind}` } }
  const asked: string[] = []
  const readLogo = async (name: string) => {
    asked.push(name)
    return kind === 'png' ? PICTURES.png : PICTURES.jpg
  }
  const pdf = await renderReceiptPdf(aCheckout(changes), words('en'), readLogo)
  expect(pdf?.toString('latin1')).toContain('/Subtype /Image')
  expect(asked).toEqual([`0123.${kind}`])
  expect(await createPdf(REAL)).not.toContain('/Subtype /Image')
  for (const dir of ['ltr', 'rtl'] as const) {
    const { logo, placed } = layOutReceipt(getContent(changes, 'en'), dir)
    const before = layOutReceipt(getContent(REAL, 'en'), dir).placed[0]?.x ?? 0
    expect(logo?.side).toBe(36)
    expect((placed[0]?.x ?? 0) - before).toBeCloseTo(dir === 'ltr' ? 48 : -48, 0)
  }
  expect(layOutReceipt(getContent({ ...REAL, shop: { ...SHOP, logo: '0123.webp' } }, 'en'), 'ltr').logo).toBeNull()
})

test('the platform’s logo is in the foot of the file, next to its name', async () => {
  const changes = { ...REAL, platform: PLATFORM }
  const pdf = await makePdf(changes, 'en', async (name: string) => (name === PLATFORM.logo ? PICTURES.png : null))
  expect(pdf?.toString('latin1')).toContain('/Subtype /Image')
  const { logo, platformLogo, placed } = layOutReceipt(getContent(changes, 'en'), 'ltr')
  const named = placed.find(({ text }) => text.includes(PLATFORM.name))
  expect(logo).toBeNull()
  expect(platformLogo?.x).toBe(MARGIN)
  expect(named?.x).toBeGreaterThan(MARGIN + (platformLogo?.side ?? 0))
})
