import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { lexer, type Tokens } from 'marked'
import { Webhook } from 'standardwebhooks'
import { until } from '../../scripts/test/until.ts'
import { CALL_LANGUAGES, type CallLanguage } from '../../src/web/docs/code/languages.ts'
import { VERIFY_FILES } from '../../src/web/docs/code/verify-code.ts'
import { GUIDES } from '../../src/web/docs/guides.ts'
import { plantReceipt } from '../api/support/receipts.ts'
import { fixture, payment, settled, useFixture } from '../workflows/story.ts'
import { RECEIVER_RUNS, runSamples } from './running.ts'

useFixture()

const folder = mkdtempSync(join(tmpdir(), 'pinrail-examples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
  const response = await fetch(`${fixture.api}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Record<string, unknown>
}
const made = async (path: string, body: object): Promise<string> => String((await ask('POST', path, body))['id'])

/** The examples of a page as it is served, in the order of the page. */
async function readSamples(guide: string, language: CallLanguage): Promise<string[]> {
  const text = await (await fetch(`${fixture.api}/docs/${guide}.md`)).text()
  const codes = lexer(text).filter(({ type }) => type === 'code') as Tokens.Code[]
  const ofCalls = (code: Tokens.Code) =>
    language === 'curl' ? code.text.startsWith('curl ') : code.lang === language && code.text.includes('/v1/')
  return codes.filter(ofCalls).map((code) => code.text)
}

/** Milliseconds: one language is compiled, with its libraries if they were not compiled before. */
const COMPILED_IN = 180_000

describe.each(CALL_LANGUAGES)('The examples of the guides in %s', (language) => {
  test(
    'the api answers the examples as the guides say',
    async () => {
      const env = {
        SECRET_KEY: fixture.secretKey,
        PAYMENT_ID: await made('/payments', { amount: '20.00', currency: 'EUR', provider: 'card_partner' }),
        PAYMENT_LINK_ID: await made('/payment_links', { title: 'Box', amount: '64.00', currency: 'EUR' }),
        WEBHOOK_ENDPOINT_ID: await made('/webhook_endpoints', { url: 'https://shop.example/own' }),
      }
      await plantReceipt(fixture.db, env.PAYMENT_ID)
      const texts: string[] = []
      for (const guide of Object.keys(GUIDES)) texts.push(...(await readSamples(guide, language)))
      expect(texts).toHaveLength(
        Object.values(GUIDES)
          .join('')
          .match(/^```call$/gm)?.length ?? 0,
      )
      const printed = await runSamples(join(folder, language), { language, texts, env })
      expect(printed).toHaveLength(texts.length)
      for (const [index, text] of printed.entries()) {
        const answer = JSON.parse(text) as Record<string, unknown>
        expect({ example: texts[index], answer, object: typeof answer['object'] }).toMatchObject({ object: 'string' })
        expect(answer).not.toHaveProperty('request_id')
      }
      // The guide to testing has paid it, and a day has passed since.
      expect((await fixture.read(env.PAYMENT_ID)).attempts).toHaveLength(1)
      expect(await ask('GET', `/payment_links/${env.PAYMENT_LINK_ID}`)).toMatchObject({
        title: 'November tasting box',
        active: false,
      })
    },
    COMPILED_IN,
  )
})

type Delivery = { readonly headers: Record<string, string>; readonly body: string; readonly path: string }

describe('The code that verifies a webhook', () => {
  let before: Delivery
  let during: Delivery
  let secrets: { old: string; new: string }

  beforeAll(async () => {
    for (const { id } of (await ask('GET', '/webhook_endpoints'))['data'] as { id: string }[])
      await ask('DELETE', `/webhook_endpoints/${id}`)
    const endpoint = await ask('POST', '/webhook_endpoints', { url: `${fixture.inboxUrl}/verified` })
    const old = String(endpoint['secret'])
    before = await awaitDelivery([old])
    const rotated = await ask('POST', `/webhook_endpoints/${String(endpoint['id'])}/rotate_secret`, { overlap: 3600 })
    secrets = { old, new: String(rotated['secret']) }
    during = await awaitDelivery([old, secrets.new])
  })

  /** The request that arrives when a payment has succeeded. */
  async function awaitDelivery(known: readonly string[]): Promise<Delivery> {
    await fetch(`${fixture.inboxUrl}/secret`, { method: 'POST', body: JSON.stringify({ secrets: known }) })
    const id = await fixture.createPayment()
    await ask('POST', `/test/payments/${id}/simulate`, { action: 'pay' })
    await fixture.sandbox.callbacks.flush()
    await ask('POST', `/test/payments/${id}/simulate`, { action: 'verify' })
    await fixture.sandbox.callbacks.flush()
    await settled(id)
    expect((await payment(id)).status).toBe('succeeded')
    const arrived = await until(
      async () => (await (await fetch(`${fixture.inboxUrl}/deliveries`)).json()) as Delivery[],
      (all) => all.some(({ body }) => body.includes(id)),
    )
    const found = arrived.find(({ body }) => body.includes(id))
    if (found === undefined) throw new Error('nothing arrived')
    return found
  }

  /** The delivery as it would be if it had been sent this number of seconds ago. */
  function sentAgo({ headers, body }: Delivery, seconds: number): Delivery {
    const at = new Date(Date.now() - seconds * 1000)
    const signature = new Webhook(secrets.new).sign(headers['webhook-id'] ?? '', at, body)
    const changed = { 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)), 'webhook-signature': signature }
    return { path: '', headers: { ...headers, ...changed }, body }
  }

  const WRONG = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

  test.each(Object.keys(VERIFY_FILES))(
    'the code in %s accepts the platform’s webhooks and refuses all others',
    async (language) => {
      const changed = { ...during, body: during.body.replace('"succeeded"', '"succeeded" ') }
      const other = { ...during, headers: { ...during.headers, 'webhook-id': 'evt_other' } }
      const unsigned = { ...during, headers: { ...during.headers, 'webhook-signature': '' } }
      expect(during.headers['webhook-signature']?.split(' ')).toHaveLength(2)
      const cases: [string, Delivery, string[], string][] = [
        ['as it came', before, [secrets.old], 'accepted'],
        ['with both secrets, before the rotation', before, [secrets.new, secrets.old], 'accepted'],
        ['with the new secret, in a rotation', during, [secrets.new], 'accepted'],
        ['with the old secret, in a rotation', during, [secrets.old], 'accepted'],
        ['with both secrets, in a rotation', during, [secrets.new, secrets.old], 'accepted'],
        ['four minutes old', sentAgo(during, 240), [secrets.new], 'accepted'],
        ['changed on its way', changed, [secrets.new, secrets.old], 'no signature matches'],
        ['of another event', other, [secrets.new], 'no signature matches'],
        ['without a signature', unsigned, [secrets.new], 'no signature matches'],
        ['with a wrong secret', during, [WRONG], 'no signature matches'],
        ['too old', sentAgo(during, 310), [secrets.new], 'the timestamp is too far off'],
        ['from the future', sentAgo(during, -310), [secrets.new], 'the timestamp is too far off'],
      ]
      const lines = cases.map(([, { headers, body }, known]) =>
        [
          headers['webhook-id'],
          headers['webhook-timestamp'],
          headers['webhook-signature'],
          Buffer.from(body).toString('base64'),
          known.join(' '),
        ].join('\t'),
      )
      const own = mkdtempSync(join(folder, `${language}-`))
      const said = (await RECEIVER_RUNS[language]?.(own, `${lines.join('\n')}\n`))?.trimEnd().split('\n')
      expect(cases.map(([name], index) => [name, said?.[index]])).toEqual(cases.map(([name, , , word]) => [name, word]))
    },
  )
})
