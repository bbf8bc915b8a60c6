import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import { errorDocs } from '../../../src/api/document/error-docs.ts'
import { PROBLEMS } from '../../../src/api/http/problem-codes.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhook.ts'
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

type Media = { example?: unknown; schema: unknown }
type Described = Operation & {
  parameters?: { name: string; in: string; schema: { examples?: unknown[]; pattern?: string; type?: string } }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

describe('of every operation the document', () => {
  const document = JSON.parse(readFileSync(file('openapi.json'), 'utf8')) as Record<string, unknown> & {
    webhooks: Record<string, { post: Described }>
  }
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'api' })
  const wrong = (schema: unknown, value: unknown): string | null => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/')
    return ajv.validate(JSON.parse(text) as object, value) ? null : ajv.errorsText()
  }

  test('has an example of the body, of the ids in the path and of the answer, and each fits its schema', () => {
    for (const { operationId, parameters = [], requestBody, responses } of operations(document) as Described[]) {
      for (const [status, { content }] of Object.entries(responses)) {
        const media = content?.['application/json']
        if (status.startsWith('2'))
          expect([operationId, media?.example !== undefined, wrong(media?.schema, media?.example)]).toEqual([
            operationId,
            true,
            null,
          ])
      }
      const body = requestBody?.content['application/json']
      if (body !== undefined) expect([operationId, wrong(body.schema, body.example)]).toEqual([operationId, null])
      for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'path'))
        expect([operationId, name, String(schema.examples?.[0])]).toEqual([
          operationId,
          name,
          expect.stringMatching(/^[\w@.]{4}/),
        ])
    }
  })

  test('says that limit is a whole number, and what it is at most', () => {
    const limits = (operations(document) as Described[]).flatMap(({ parameters = [] }) =>
      parameters.filter(({ name }) => name === 'limit'),
    )
    expect(limits).toHaveLength(7)
    for (const { schema } of limits) expect(schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 100 })
    for (const { schema } of limits) expect(schema.pattern).toBeUndefined()
  })

  test('has patterns only of what every language reads: no classes of properties', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text]) => JSON.parse(text ?? '""') as string,
    )
    expect(patterns.length).toBeGreaterThan(20)
    for (const pattern of patterns) expect([pattern, /\\p\{|\(\?</.test(pattern)]).toEqual([pattern, false])
    for (const pattern of patterns) expect(() => new RegExp(pattern)).not.toThrow()
  })

  test('tells what is sent to webhook endpoints, for every type of event', () => {
    expect(Object.keys(document.webhooks)).toEqual([...WEBHOOK_EVENT_TYPES])
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const media = post.requestBody?.content['application/json']
      expect([media?.example, wrong(media?.schema, media?.example)]).toEqual([expect.objectContaining({ type }), null])
      const object = type.split('.')[0]
      expect(media?.example).toMatchObject({ type, data: { object: { object } } })
      expect(post.parameters?.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
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
