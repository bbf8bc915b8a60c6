import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { errorDocs } from '../../../src/api/http/error-docs.ts'
import { PROBLEMS } from '../../../src/api/http/problem-codes.ts'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

const file = (name: string): URL => new URL(`../../../docs/api/${name}`, import.meta.url)

type Operation = { operationId: string; summary: string; tags: string[]; responses: Record<string, unknown> }
const operations = (document: unknown): Operation[] =>
  Object.values((document as { paths: Record<string, Record<string, Operation>> }).paths).flatMap((path) =>
    Object.values(path),
  )

describe('the OpenAPI document', () => {
  test('that is checked in is the one that is served: run npm run docs', async () => {
    const served: unknown = JSON.parse((await shop.ask('GET', '/v1/openapi.json', { key: null })).text)
    expect(JSON.parse(readFileSync(file('openapi.json'), 'utf8'))).toEqual(served)
    expect(JSON.parse((await shop.ask('GET', '/openapi.json', { key: null })).text)).toEqual(served)
  })

  test('names every operation once, and says of each what it refuses', async () => {
    const all = operations(JSON.parse(readFileSync(file('openapi.json'), 'utf8')))
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length)
    for (const { operationId, summary, tags, responses } of all) {
      expect([operationId, summary !== '', tags.length]).toEqual([operationId, true, 1])
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429', '500', '503']))
    }
  })
})

describe('the code of an error', () => {
  test('has a section in the documentation that is checked in: run npm run docs', () => {
    const text = readFileSync(file('errors.md'), 'utf8')
    expect(text).toBe(errorDocs())
    for (const code of Object.keys(PROBLEMS)) expect(text).toContain(`\n## ${code}\n`)
  })

  test('has an anchor on the page that type leads to', async () => {
    const { body } = await shop.ask('GET', '/v1/payments', { key: null })
    const type = new URL(String(body['type']))
    expect([type.origin, type.pathname, type.hash]).toEqual([
      'http://127.0.0.1:4242',
      '/docs/errors',
      '#invalid_api_key',
    ])
    const page = await shop.ask('GET', type.pathname, { key: null })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    for (const code of Object.keys(PROBLEMS)) expect(page.text).toContain(`id="${code}"`)
  })
})
