import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PROVIDER_NAMES, PROVIDERS } from '../../src/domain/methods.ts'
import { newId } from '../../src/ids.ts'
import { createPartners } from '../../src/providers/index.ts'
import { hmacSha256 } from '../../src/providers/signature.ts'
import { listen, type SandboxServer, secretOf, soon, startSandboxServer } from './sandbox-server.ts'
import { troubleOf, withPartnerThat as withStrangePartners, withTamperedAnswers } from './strange-partner.ts'

let server: SandboxServer
beforeAll(async () => {
  server = await startSandboxServer()
})
afterAll(() => server.close())

const withPartnerThat = (
  answers: Parameters<typeof withStrangePartners>[1],
  check: Parameters<typeof withStrangePartners>[2],
): Promise<void> => withStrangePartners(server, answers, check)

describe.each(PROVIDER_NAMES)('%s', (provider) => {
  const read = (partners: ReturnType<typeof createPartners>) =>
    partners[provider].readOrder({ attemptId: newId('attempt') }, soon())

  test('a wrong secret and a wrong account are misconfigured, and no message holds the secret', async () => {
    const all = {
      wallet_app: server.settings('wallet_app'),
      card_partner: server.settings('card_partner'),
      local_partner: server.settings('local_partner'),
    }
    const secret = 'wrong-but-still-secret'
    const wrongSecret = createPartners({ ...all, [provider]: { ...all[provider], secret } })
    const trouble = await troubleOf(wrongSecret[provider].openOrder(server.newOrder(provider), soon()))
    expect(trouble.kind).toBe('misconfigured')
    const shown = `${trouble.message} ${JSON.stringify(trouble)} ${trouble.stack ?? ''} ${String(trouble.cause)}`
    expect(shown).not.toContain(secret)
    const wrongAccount = createPartners({ ...all, [provider]: { ...all[provider], account: 'other' } })
    expect((await troubleOf(read(wrongAccount))).kind).toBe('misconfigured')
  })

  test('nobody listening is unknown', async () => {
    const gone = createServer()
    const url = await listen(gone)
    await new Promise((resolve) => gone.close(resolve))
    const all = { ...server.settings(provider), url }
    const partners = createPartners({ wallet_app: all, card_partner: all, local_partner: all })
    expect((await troubleOf(read(partners))).kind).toBe('unknown')
  })

  test.each([
    ['an HTML page with 200', { status: 200, body: '<html>welcome</html>' }],
    ['an HTML page with 404', { status: 404, body: '<html>not found</html>' }],
    ['JSON of another shape', { status: 200, body: '{"hello":1}' }],
    ['a state that we do not know', { status: 200, body: '{"object":"list","data":[{"status":"new"}]}' }],
    ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/' } }],
    ['503 without a time', { status: 503, body: '' }],
    ['an empty answer', { status: 200, body: '' }],
    ['a teapot', { status: 418, body: '{}' }],
  ] as const)('%s is unknown, never "no such order"', async (_name, { status, body, ...rest }) => {
    const headers = 'headers' in rest ? rest.headers : {}
    await withPartnerThat(
      (_request, response) => response.writeHead(status, headers).end(body),
      async (partners) => {
        expect((await troubleOf(read(partners))).kind).toBe('unknown')
        const order = server.newOrder(provider)
        expect((await troubleOf(partners[provider].openOrder(order, soon()))).kind).toBe('unknown')
      },
    )
  })

  test.each([
    [429, '30', 30],
    [429, undefined, null],
    [429, '999999', 3600],
    [503, '12', 12],
  ])('%s with Retry-After %s is throttled', async (status, header, seconds) => {
    await withPartnerThat(
      (_request, response) => response.writeHead(status, header === undefined ? {} : { 'retry-after': header }).end(),
      async (partners) => {
        const trouble = await troubleOf(read(partners))
        expect([trouble.kind, trouble.retryAfterSeconds]).toEqual(['throttled', seconds])
      },
    )
  })

  test('an endless answer is not read to its end', async () => {
    let sent = 0
    await withPartnerThat(
      (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && sent < 50_000_000) {
            sent += 16_384
            if (!response.write('x'.repeat(16_384))) return void response.once('drain', more)
          }
          response.end()
        }
        more()
      },
      async (partners) => {
        expect((await troubleOf(read(partners))).message).toContain('more than 65536 bytes')
      },
    )
    expect(sent).toBeLessThan(20_000_000)
  })

  test('an answer about another order or another amount is unknown', async () => {
    const order = server.newOrder(provider)
    await server.partners()[provider].openOrder(order, soon())
    const other = newId('attempt')
    await withTamperedAnswers({ server, provider, from: order.attemptId, to: other }, async (partner) => {
      expect((await troubleOf(partner.readOrder(order, soon()))).message).toContain('about another')
      expect((await troubleOf(partner.openOrder(order, soon()))).message).toContain('about another')
    })
    const [asked, told] = provider === 'wallet_app' ? ['"4999.00"', '"49.99"'] : ['499900', '4999']
    await withTamperedAnswers({ server, provider, from: asked, to: told }, async (partner) => {
      expect((await troubleOf(partner.openOrder(order, soon()))).message).toContain('another amount')
    })
  })

  test('an answer about the refund of another order is unknown', async () => {
    if (provider !== 'card_partner') return
    const { attemptId } = server.newOrder(provider)
    await server.partners()[provider].openOrder(server.newOrder(provider, { attemptId }), soon())
    await server.act(provider, attemptId, { action: 'pay' })
    await withTamperedAnswers({ server, provider, from: '"session":"', to: '"session":"x' }, async (partner) => {
      const refund = partner.refundOrder?.({ attemptId, key: `${attemptId}:refund` }, soon()) ?? Promise.resolve()
      expect((await troubleOf(refund)).message).toContain('about another refund')
    })
  })

  test('a method that the partner does not have is misconfigured, not sent', async () => {
    const order = server.newOrder(provider, { method: 'usdc' })
    if (provider === 'wallet_app') return
    expect((await troubleOf(server.partners()[provider].openOrder(order, soon()))).kind).toBe('misconfigured')
  })

  test('every currency and method that is offered can be opened', async () => {
    const { currencies, chargeCurrency, methods } = PROVIDERS[provider]
    const charged = chargeCurrency === null ? currencies : [chargeCurrency]
    const partner = server.partners()[provider]
    for (const currency of charged) {
      const order = server.newOrder(provider, { amount: { minor: '1201', currency } })
      expect((await partner.openOrder(order, soon())).kind).toBe('opened')
      expect((await partner.readOrder(order, soon()))?.amount).toEqual(order.amount)
    }
    for (const method of methods)
      expect((await partner.openOrder(server.newOrder(provider, { method }), soon())).kind).toBe('opened')
  })
})

describe('wallet_app', () => {
  test('amounts on the wire have the decimals of ISO 4217: none for JPY, two for HUF', async () => {
    const bodies: string[] = []
    await withPartnerThat(
      (request, response) => {
        request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()))
        request.on('end', () => response.writeHead(500).end())
      },
      async (partners) => {
        for (const [minor, currency] of [
          ['1200', 'JPY'],
          ['5', 'EUR'],
          ['100', 'HUF'],
        ] as const) {
          const order = server.newOrder('wallet_app', { amount: { minor, currency } })
          await troubleOf(partners.wallet_app.openOrder(order, soon()))
        }
      },
    )
    expect(bodies.map((body) => (JSON.parse(body) as { amount: unknown }).amount)).toEqual([
      { value: '1200', currency: 'JPY' },
      { value: '0.05', currency: 'EUR' },
      { value: '1.00', currency: 'HUF' },
    ])
  })
})

describe('local_partner', () => {
  const partner = () => server.partners().local_partner

  test('a UPI order has an intent link with the fields of the linking specification', async () => {
    const order = server.newOrder('local_partner', { amount: { minor: '255050', currency: 'INR' } })
    const opened = await partner().openOrder(order, soon())
    if (opened.kind !== 'opened' || opened.intentUri === null) throw new Error('expected an intent link')
    expect(opened.intentUri).toMatch(/^upi:\/\/pay\?pa=/)
    expect(opened.intentUri).not.toContain('+')
    const fields = Object.fromEntries(new URLSearchParams(opened.intentUri.slice('upi://pay?'.length)))
    expect(fields).toEqual({
      pa: 'pinrail@sandbox',
      pn: 'Pinrail',
      mc: '5815',
      tr: opened.reference,
      tn: order.description,
      am: '2550.50',
      cu: 'INR',
    })
    expect(opened.reference).toMatch(/^[A-Z0-9]{1,35}$/)
  })

  test('its cards and bank transfers are paid on its page, without an intent link', async () => {
    for (const method of ['card', 'bank_transfer'] as const) {
      const opened = await partner().openOrder(server.newOrder('local_partner', { method }), soon())
      expect(opened).toMatchObject({ kind: 'opened', intentUri: null })
    }
  })

  test('another currency than INR is our mistake', async () => {
    const order = server.newOrder('local_partner', { amount: { minor: '5000', currency: 'EUR' } })
    expect((await troubleOf(partner().openOrder(order, soon()))).kind).toBe('misconfigured')
  })

  test.each([
    ['another amount', 'am=1.00'],
    ['another order', 'tr=LPOTHER'],
    ['another scheme', 'https'],
  ])('a UPI link of %s is not shown to a buyer', async (_name, change) => {
    const order = server.newOrder('local_partner')
    const answer = (body: { txn_ref: string }) => {
      const right = `upi://pay?pa=pinrail@sandbox&pn=Pinrail&mc=5815&tr=LP1&tn=x&am=4999.00&cu=INR`
      const [name = ''] = change.split('=')
      const intent =
        change === 'https' ? right.replace('upi://', 'https://') : right.replace(new RegExp(`${name}=[^&]+`), change)
      const txn = {
        mid: 'pinrail',
        txn_ref: body.txn_ref,
        order_no: 'LP1',
        state: 'INITIATED',
        amount_paise: 499_900,
        credited_paise: 0,
        fail_code: '',
        page_url: 'http://127.0.0.1:9/pay',
        intent,
      }
      return JSON.stringify({ resp_code: 'OK', txn })
    }
    await withPartnerThat(
      (request, response) => {
        request.on('data', (chunk: Buffer) => {
          const text = answer(JSON.parse(chunk.toString()) as { txn_ref: string })
          response.writeHead(200, { 'x-checksum': hmacSha256(secretOf('local_partner'), text, 'base64') }).end(text)
        })
      },
      async (partners) => {
        const trouble = await troubleOf(partners.local_partner.openOrder(order, soon()))
        expect(trouble.message).toContain('a UPI link that does not fit')
      },
    )
  })

  test('an answer whose checksum is not theirs is unknown', async () => {
    await withPartnerThat(
      (_request, response) => response.writeHead(200, { 'x-checksum': 'AAAA' }).end('{"resp_code":"NOT_FOUND"}'),
      async (partners) => {
        const trouble = await troubleOf(partners.local_partner.readOrder({ attemptId: newId('attempt') }, soon()))
        expect([trouble.kind, trouble.message]).toEqual(['unknown', expect.stringContaining('checksum')])
      },
    )
  })
})
