import { createHmac } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { listProbes } from '../../src/webhooks/mistakes.ts'
import { newWebhookSecret } from '../../src/webhooks/sign.ts'

const current = newWebhookSecret()
const message = { id: 'evt_1', at: 1_795_000_000_000, body: Buffer.from('{"b":"ü/<","a":[1,true,null],"c":{"d":[]}}') }
const KNOWN = { current, previous: null, others: [] }

test.each([
  ['Python', '{"b": "\\u00fc/<", "a": [1, true, null], "c": {"d": []}}'],
  ['PHP', '{"b":"\\u00fc\\/<","a":[1,true,null],"c":{"d":[]}}'],
  ['Go', '{"a":[1,true,null],"b":"ü/\\u003c","c":{"d":[]}}'],
])('one probe is signed over the JSON as %s writes it', (language, text) => {
  const key = Buffer.from(current.slice('whsec_'.length), 'base64')
  const digest = createHmac('sha256', key).update(`evt_1.1795000000.${text}`).digest('base64')
  const found = listProbes(message, KNOWN, null).find(({ headers }) => headers['webhook-signature'] === `v1,${digest}`)
  expect(found).toMatchObject({ mistake: 'parsed_body', detail: `as ${language} writes it` })
})

test('a clock is wrong by more than a minute', () => {
  const isWrong = (difference: number) =>
    listProbes(message, KNOWN, message.at + difference).some(({ mistake }) => mistake === 'clock')
  expect([-60_001, -60_000, 0, 60_000, 60_001].map(isWrong)).toEqual([true, false, false, false, true])
})
