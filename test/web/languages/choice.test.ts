import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { localeFor } from '../../../src/web/messages/locales.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../checkout-world.ts'

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

describe('on the pages', () => {
  let world: CheckoutWorld
  beforeAll(async () => {
    world = await createCheckoutWorld()
  })
  afterAll(async () => {
    await world?.close()
  })

  const choose = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/language`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers })

  test('the browser’s language is spoken, the answer says which, and what it depends on', async () => {
    const { url } = await world.create()
    const answer = await fetch(url, { headers: { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' } })
    expect(answer.headers.get('content-language')).toBe('de')
    expect(answer.headers.get('vary')?.toLowerCase()).toMatch(/accept-language.*cookie/)
    const page = await answer.text()
    expect(page).toContain('<html lang="de" dir="ltr"')
    expect(page).toContain('Wie möchten Sie bezahlen?')
  })

  test('the buyer’s own choice comes before the browser’s, and leads back to the page where it was made', async () => {
    const { url, path } = await world.create()
    const chosen = await choose(url, { language: 'ar', at: `${path}?step=pick&method=card_partner.card` })
    expect(chosen.status).toBe(303)
    expect(chosen.headers.get('location')).toBe(`${path}?step=pick&method=card_partner.card`)
    const cookie = chosen.headers.get('set-cookie')
    expect(cookie).toMatch(new RegExp(`^pinrail_language=ar; Path=${path}; Max-Age=604800; HttpOnly; SameSite=Lax$`))
    const answer = await fetch(url, { headers: { cookie: 'pinrail_language=ar', 'accept-language': 'de' } })
    expect(await answer.text()).toContain('<html lang="ar" dir="rtl"')
  })

  test('the choice leads to no other place than a page of this payment', async () => {
    const { url, path } = await world.create()
    for (const at of ['https://evil.example/', '//evil.example/', '/c/another', 'javascript:alert(1)', 'http://[', ''])
      expect((await choose(url, { language: 'fr', at })).headers.get('location')).toBe(path)
    expect((await choose(url, { language: 'fr', at: `${path}?evil=1` })).headers.get('location')).toBe(path)
    expect((await choose(url, { language: 'fr', at: `${path}/receipt` })).headers.get('location')).toBe(
      `${path}/receipt`,
    )
  })

  test('a language that we do not have is refused, and so is a choice made by another site', async () => {
    const { url, path } = await world.create()
    expect((await choose(url, { language: 'xx', at: path })).status).toBe(400)
    expect((await choose(url, { language: 'de', at: path }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await fetch(`${url}/language`)).status).toBe(405)
  })

  test('an error is told in the reader’s language too', async () => {
    const answer = await fetch(`${world.url}/c/unknown`, { headers: { 'accept-language': 'hu' } })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-language')).toBe('hu')
    expect(await answer.text()).toContain('Nincs ilyen fizetés')
  })

  test('a page holds the texts of its own language alone, and stays small', async () => {
    const { url } = await world.create()
    const pages = await Promise.all(
      ['en', 'de', 'hi'].map(async (language) =>
        (await fetch(url, { headers: { 'accept-language': language } })).text(),
      ),
    )
    for (const page of pages) expect(page.length).toBeLessThan(16_000)
    expect(pages[1]).not.toContain('How would you like to pay?')
    expect(pages[2]).not.toContain('Wie möchten Sie bezahlen?')
  })
})
