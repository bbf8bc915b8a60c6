import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

test('the reference shows every operation of the document, with a command', async () => {
  const { text } = await shop.ask('GET', '/openapi.json', { key: null })
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
  const page = await shop.ask('GET', '/docs', { key: null })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
  expect(ids.length).toBeGreaterThan(10)
  for (const id of ids) expect(page.text).toContain(`id="${id}"`)
  expect(page.text.match(/<pre[^>]*>curl /g)).toHaveLength(ids.length)
})

test('the reference names the parameters, the fields of the body and those of the answer', async () => {
  const { text } = await shop.ask('GET', '/docs', { key: null })
  const article = (id: string): string => text.slice(text.indexOf(`<article id="${id}"`)).split('</article>')[0] ?? ''
  const create = article('createPayment')
  expect(create).toMatch(/<summary>Body<\/summary>.*<code>amount<\/code> <b>required<\/b>.*<code>success_url<\/code>/)
  expect(create).toMatch(
    /<summary>Answer 201<\/summary>.*<code>settlement\.tx_hash<\/code>.*<code>attempts\[\]\.status<\/code>/,
  )
  expect(create).toContain('<code>Idempotency-Key</code>')
  expect(article('listPayments')).toMatch(/<summary>Parameters<\/summary>.*<code>status<\/code>.*in the query/)
})

test.each(['/docs', '/openapi.json'])(
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
