import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { readAs, readCallbackBody } from '../../src/providers/reading.ts'

test('texts that Postgres would refuse are read with a replacement: a refund with such a reason could never be written down', () => {
  const text = String.raw`{"reason":"no\u0000t \ud800today","refunds":[{"id":"r\u0000 \ud83d\ude00"}]}`
  const schema = z.object({ reason: z.string(), refunds: z.array(z.object({ id: z.string() })) })
  const read = readAs('partner', schema, { status: 200, headers: {}, text })
  expect(read).toEqual({ reason: 'no\uFFFDt \uFFFDtoday', refunds: [{ id: 'r\uFFFD \u{1F600}' }] })
})

test('a callback with such a text is read too: it could not be stored, and its partner would have sent it without end', () => {
  const body = Buffer.from(String.raw`{"id":"evt\u0000 \udc00"}`)
  expect(readCallbackBody(z.object({ id: z.string() }), body)).toEqual({ id: 'evt\uFFFD \uFFFD' })
})
