import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DESCRIPTIONS } from '../../../src/api/document/descriptions.ts'
import { createDocsSite } from '../../../src/api/document/docs-site.ts'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

const get = (path: string) => shop.ask('GET', path, { key: null })

/** The addresses of all pages, as llms.txt lists them. */
async function pages(): Promise<string[]> {
  const { text } = await get('/llms.txt')
  const listed = [...text.matchAll(/\]\(http:\/\/[^/]+(\/docs[^)]*)\.md\)/g)].map(([, path = '']) => path)
  expect(listed.length).toBeGreaterThan(10)
  return listed
}

test('the reference shows every operation of the document, with an example in five languages', async () => {
  const { text } = await get('/openapi.json')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
  const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
  expect(ids.length).toBeGreaterThan(10)
  const all = await Promise.all((await pages()).map(async (path) => (await get(path)).text))
  const reference = all.join('')
  for (const id of ids) {
    expect(reference).toContain(`<section class="op" id="${id}"`)
    for (const language of ['curl', 'typescript', 'python', 'go', 'php'])
      expect(reference).toContain(`href="?lang=${language}#${id}-code"`)
  }
  expect(reference.match(/<section class="op"/g)).toHaveLength(ids.length)
})

test('the reference names the parameters, the fields of the body, those of the answer, and the errors', async () => {
  const { text } = await get('/docs/api/payments')
  const section = (id: string): string =>
    text.slice(text.indexOf(`<section class="op" id="${id}"`)).split('</section>')[0] ?? ''
  const create = section('createPayment')
  expect(create).toMatch(
    /<summary>Body<\/summary>.*<code[^>]*>amount<\/code> <b>required<\/b>.*<code[^>]*>success_url<\/code>/,
  )
  expect(create).toMatch(
    /<summary>Answer 201<\/summary>.*<code[^>]*>settlement\.tx_hash<\/code>.*<code[^>]*>attempts\[\]\.status<\/code>/,
  )
  expect(create).toContain('>Idempotency-Key</code>')
  expect(create).toMatch(/<summary>Errors<\/summary>.*amount_too_small.*invalid_api_key/)
  expect(create).toContain('&quot;amount_decimal&quot;: &quot;49.99&quot;')
  expect(section('listPayments')).toMatch(/<summary>Parameters<\/summary>.*<code[^>]*>status<\/code>.*in the query/)
})

test('every field and parameter of the document has a description, and every description is of one', async () => {
  const { text } = await get('/openapi.json')
  const bare: string[] = []
  const look = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, part] of Object.entries(value)) {
      const isNamed = /\.(?:properties|parameters)$/.test(at) && typeof part === 'object' && !('$ref' in part)
      if (isNamed && !('description' in part)) bare.push(`${at}.${name}`)
      // Examples and what is forbidden describe nothing.
      if (!['example', 'examples', 'required', 'not'].includes(name) || isNamed) look(part, `${at}.${name}`)
    }
  }
  look(JSON.parse(text), '')
  expect(bare).toEqual([])
  const used = new Set([...text.matchAll(/"description":("(?:[^"\\]|\\.)*")/g)].map(([, said]) => JSON.parse(said!)))
  expect(Object.entries(DESCRIPTIONS).filter(([, said]) => !used.has(said))).toEqual([])
})

test('a search finds the parts of pages that have every word, in the reference too, and says so when none has', async () => {
  const search = async (query: string): Promise<string> =>
    (await get(`/docs/search?q=${encodeURIComponent(query)}`)).text
  expect(await search('LATE money')).toContain('href="/docs/states#late-money"')
  expect(await search('idempotency_key_reused')).toContain('href="/docs/idempotency#how-it-works"')
  expect(await search('cancel a payment before')).toContain('href="/docs/api/payments#')
  expect(await search('late xyzzy')).toContain('Nothing on these pages has all of these words.')
  for (const words of ['payment', 'idempotency_key_reused', 'invalid_json', 'wallet']) {
    const links = [...(await search(words)).matchAll(/<li><a href="([^"#]+)#([^"]+)">/g)]
    expect(links.length).toBeGreaterThan(0)
    for (const [, path, id] of links) expect((await get(path!)).text).toContain(`id="${id!}"`)
  }
  expect(await search('<script>')).toContain('Search: &lt;script')
})

test('the examples of creating and canceling show a created and a canceled payment', async () => {
  const { text } = await get('/openapi.json')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { responses: Record<string, object> }>> }
  const getExample = (path: string, status: string) => paths[path]?.['post']?.responses[status]
  const shown = (status: string) => ({ content: { 'application/json': { example: { status } } } })
  expect(getExample('/v1/payments', '201')).toMatchObject(shown('created'))
  expect(getExample('/v1/payments/{id}/cancel', '200')).toMatchObject(shown('canceled'))
})

test('no guide puts a key into the history of the shell, and curl takes brackets of a query as they are', async () => {
  const all = await Promise.all((await pages()).map(async (path) => (await get(`${path}.md`)).text))
  expect(all.join('')).not.toMatch(/export SECRET_KEY=/)
  expect(all.join('')).toContain('read -rs SECRET_KEY')
  for (const [line] of all.join('').matchAll(/^curl .*\[.*$/gm)) expect(line).toMatch(/^curl -sS -g /)
})

test('a field of the reference has its range and its default', async () => {
  const { text } = await get('/docs/api/payments')
  expect(text).toContain('How long the payment can be paid, in seconds. From 1800 to 604800. Default: 86400.')
})

test('the language of an address is the language of every example on its page and of the links to others', async () => {
  const { text } = await get('/docs/api/payments?lang=python')
  expect(text).toContain('import urllib.request')
  expect(text).not.toContain('curl -sS')
  expect(text).toContain('href="/docs/webhooks?lang=python"')
  for (const lang of ['cobol', 'toString', 'java'])
    expect((await get(`/docs/api/payments?lang=${lang}`)).text).toContain('curl -sS')
  expect((await get('/docs/webhooks?lang=java')).text).toContain('final class Verify')
})

test('every page exists as Markdown, with each example in each language', async () => {
  for (const path of ['/docs', ...(await pages())]) {
    const { status, headers, text } = await get(`${path}.md`)
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8'])
    expect(text).toMatch(/^# \S/)
    expect(text).not.toMatch(/^```(?:call|verify)/m)
  }
  const { text } = await get('/docs/webhooks.md')
  for (const name of ['curl', 'TypeScript', 'Python', 'Go', 'PHP', 'Java']) expect(text).toContain(`\n${name}:\n`)
})

test('every link and every anchor of the documentation leads somewhere', async () => {
  const read = new Map<string, { status: number; text: string }>()
  const page = async (path: string) => {
    const found = read.get(path) ?? (await get(path))
    read.set(path, found)
    return found
  }
  const broken: string[] = []
  for (const from of ['/docs', '/receipts/verify', ...(await pages())]) {
    const { text, headers } = await get(from)
    expect([from, headers.get('x-robots-tag'), text.match(/<h1[ >]/g)?.length]).toEqual([
      from,
      from === '/receipts/verify' ? 'noindex, nofollow' : null,
      1,
    ])
    for (const [, href = ''] of text.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(href, `http://here.example${from}`)
      if (origin !== 'http://here.example' || pathname.startsWith('/dashboard')) continue
      const to = await page(pathname)
      const anchored = hash === '' || to.text.includes(`id="${hash.slice(1)}"`)
      if (to.status !== 200 || !anchored) broken.push(`${from} → ${href}`)
    }
  }
  expect(broken).toEqual([])
})

test('the guides of a live deployment ask the one for tests', async () => {
  const live = createDocsSite({ routes: [], publicUrl: 'https://pay.example', testUrl: 'https://test.pay.example' })
  const first = live.pages.find(({ path }) => path === '/docs/first-payment')
  expect(first?.html(live.frame('/docs/first-payment', 'curl'))).toContain('https://test.pay.example/v1/payments')
  expect(first?.markdown()).toContain('https://test.pay.example/v1/payments')
})

test.each(['/docs/api/payments', '/openapi.json'])(
  '%s is compressed for who takes it so, and whole for who does not',
  async (path) => {
    const url = `http://127.0.0.1:${shop.port}${path}`
    const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('vary')).toMatch(/accept-encoding/i)
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(await plain.text()).toBe(await answer.text())
  },
)

test('metrics name routes by their pattern and nothing of any payment', async () => {
  const { body } = await shop.ask('POST', '/v1/payments', { body: { amount: 49.9, currency: 'EUR' } })
  await shop.ask('GET', `/v1/payments/${String(body['id'])}`)
  await shop.ask('GET', '/no/such/path', { key: null })
  const text = await shop.registry.metrics()
  expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/v1/payments/:id",status="200"} 1')
  expect(text).toContain('route="unmatched",status="404"')
  expect(text).toContain('process_cpu_seconds_total')
  expect(text).not.toContain('pay_')
})
