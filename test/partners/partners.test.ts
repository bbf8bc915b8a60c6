import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../src/domain/methods.ts'
import { newId } from '../../src/ids.ts'
import { limitConverter, limitPartners } from '../../src/partners/decorators/limited.ts'
import { createPartners } from '../../src/partners/index.ts'
import { PartnerError, type PaymentPartner } from '../../src/partners/provider.ts'
import { hmacSha256 } from '../../src/partners/signature.ts'
import { abortAfter } from '../../src/runtime/abort-after.ts'
import { describeConformance } from './conformance.ts'
import { getSecret, listen, type SandboxServer, soon, startSandboxServer } from './sandbox-server.ts'
import { catchPartnerError, withPartnerThat as withStrangePartners, withTamperedAnswers } from './strange-partner.ts'

let server: SandboxServer
beforeAll(async () => {
  server = await startSandboxServer()
})
afterAll(() => server.close())

describe('The simulated partners', () => {
  for (const provider of PROVIDER_NAMES)
    describeConformance(`The simulator of ${provider}`, { provider }, startSandboxServer)
})

test('the timeout of a call ends it although the garbage collector ran before', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const signal = abortAfter(200, new AbortController().signal)
  const ended = once(signal, 'abort')
  // Objects that a task has touched are not collected before the next one.
  await setImmediate()
  collectGarbage()
  await ended
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
})

describe('The drivers', () => {
  const withPartnerThat = (
    answers: Parameters<typeof withStrangePartners>[1],
    check: Parameters<typeof withStrangePartners>[2],
  ): Promise<void> => withStrangePartners(server, answers, check)

  describe.each(PROVIDER_NAMES)('The driver of %s', (provider) => {
    const read = (partners: ReturnType<typeof createPartners>) =>
      partners[provider].readOrder({ attemptId: newId('attempt'), reference: null }, soon())

    test('a wrong secret and a wrong account are misconfigured, and no message contains the secret', async () => {
      const all = {
        wallet_app: server.settings('wallet_app'),
        card_partner: server.settings('card_partner'),
        local_partner: server.settings('local_partner'),
      }
      const secret = 'wrong-but-still-secret'
      const wrongSecret = createPartners({ ...all, [provider]: { ...all[provider], secret } })
      const trouble = await catchPartnerError(wrongSecret[provider].openOrder(server.newOrder(provider), soon()))
      expect(trouble.kind).toBe('misconfigured')
      const shown = `${trouble.message} ${JSON.stringify(trouble)} ${trouble.stack ?? ''} ${String(trouble.cause)}`
      expect(shown).not.toContain(secret)
      const wrongAccount = createPartners({ ...all, [provider]: { ...all[provider], account: 'other' } })
      expect((await catchPartnerError(read(wrongAccount))).kind).toBe('misconfigured')
    })

    test('a refused connection has an unknown result', async () => {
      const gone = createServer()
      const url = await listen(gone)
      await new Promise((resolve) => gone.close(resolve))
      const all = { ...server.settings(provider), url }
      const partners = createPartners({ wallet_app: all, card_partner: all, local_partner: all })
      expect((await catchPartnerError(read(partners))).kind).toBe('unknown')
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
    ] as const)('%s has an unknown result, never "no such order"', async (_name, { status, body, ...rest }) => {
      const headers = 'headers' in rest ? rest.headers : {}
      await withPartnerThat(
        (_request, response) => response.writeHead(status, headers).end(body),
        async (partners) => {
          expect((await catchPartnerError(read(partners))).kind).toBe('unknown')
          const order = server.newOrder(provider)
          expect((await catchPartnerError(partners[provider].openOrder(order, soon()))).kind).toBe('unknown')
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
          const trouble = await catchPartnerError(read(partners))
          expect([trouble.kind, trouble.retryAfterSeconds]).toEqual(['throttled', seconds])
        },
      )
    })

    test('an endless response is not read to its end', async () => {
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
          expect((await catchPartnerError(read(partners))).message).toContain('more than 4194304 bytes')
        },
      )
      expect(sent).toBeLessThan(20_000_000)
    })

    test('a response about another order or another amount has an unknown result', async () => {
      const order = server.newOrder(provider)
      await server.partners()[provider].openOrder(order, soon())
      const other = newId('attempt')
      await withTamperedAnswers({ server, provider, from: order.attemptId, to: other }, async (partner) => {
        expect((await catchPartnerError(partner.readOrder({ ...order, reference: null }, soon()))).message).toContain(
          'about another',
        )
        expect((await catchPartnerError(partner.openOrder(order, soon()))).message).toContain('about another')
      })
      const [asked, answered] = provider === 'wallet_app' ? ['"4999.00"', '"49.99"'] : ['499900', '4999']
      await withTamperedAnswers({ server, provider, from: asked, to: answered }, async (partner) => {
        expect((await catchPartnerError(partner.openOrder(order, soon()))).message).toContain('another amount')
      })
    })

    test('a response about the refund of another order has an unknown result', async () => {
      if (provider !== 'card_partner') return
      const { attemptId } = server.newOrder(provider)
      await server.partners()[provider].openOrder(server.newOrder(provider, { attemptId }), soon())
      await server.act(provider, attemptId, { action: 'pay' })
      await withTamperedAnswers({ server, provider, from: '"session":"', to: '"session":"x' }, async (partner) => {
        const refund =
          partner.refundOrder?.({ attemptId, reference: null, key: `${attemptId}:refund`, amount: null }, soon()) ??
          Promise.resolve()
        expect((await catchPartnerError(refund)).message).toContain('about another refund')
      })
    })

    test('a dispute about more than the received amount is read, with its amount', async () => {
      if (provider !== 'card_partner') return
      const { attemptId } = server.newOrder(provider)
      await server.partners()[provider].openOrder(server.newOrder(provider, { attemptId }), soon())
      const [from, to] = ['"amount_received":0', '"amount_received":-1500']
      await withTamperedAnswers({ server, provider, from, to }, async (partner) => {
        const order = await partner.readOrder({ attemptId, reference: null }, soon())
        expect(order?.received).toEqual({ minor: '-1500', currency: order?.amount.currency })
      })
    })

    test('a method that the partner does not have is misconfigured, and not sent', async () => {
      const order = server.newOrder(provider, { method: 'usdc' })
      if (provider === 'wallet_app') return
      expect((await catchPartnerError(server.partners()[provider].openOrder(order, soon()))).kind).toBe('misconfigured')
    })

    test('every currency and method that is offered can be opened', async () => {
      const { currencies, chargeCurrency, methods } = PROVIDERS[provider]
      const charged = chargeCurrency === null ? currencies : [chargeCurrency]
      const partner = server.partners()[provider]
      for (const currency of charged) {
        const order = server.newOrder(provider, { amount: { minor: '1201', currency } })
        expect((await partner.openOrder(order, soon())).kind).toBe('opened')
        expect((await partner.readOrder({ ...order, reference: null }, soon()))?.amount).toEqual(order.amount)
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
            await catchPartnerError(partners.wallet_app.openOrder(order, soon()))
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

    test('the cards and bank transfers of local_partner are paid on its page, without an intent link', async () => {
      for (const method of ['card', 'bank_transfer'] as const) {
        const opened = await partner().openOrder(server.newOrder('local_partner', { method }), soon())
        expect(opened).toMatchObject({ kind: 'opened', intentUri: null })
      }
    })

    test('a currency other than INR is an error of the platform', async () => {
      const order = server.newOrder('local_partner', { amount: { minor: '5000', currency: 'EUR' } })
      expect((await catchPartnerError(partner().openOrder(order, soon()))).kind).toBe('misconfigured')
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
            response.writeHead(200, { 'x-checksum': hmacSha256(getSecret('local_partner'), text, 'base64') }).end(text)
          })
        },
        async (partners) => {
          const trouble = await catchPartnerError(partners.local_partner.openOrder(order, soon()))
          expect(trouble.message).toContain('a UPI link that does not fit')
        },
      )
    })

    test('a response with a wrong checksum has an unknown result', async () => {
      await withPartnerThat(
        (_request, response) => response.writeHead(200, { 'x-checksum': 'AAAA' }).end('{"resp_code":"NOT_FOUND"}'),
        async (partners) => {
          const trouble = await catchPartnerError(
            partners.local_partner.readOrder({ attemptId: newId('attempt'), reference: null }, soon()),
          )
          expect([trouble.kind, trouble.message]).toEqual(['unknown', expect.stringContaining('checksum')])
        },
      )
    })
  })
})

describe('Many calls at once', () => {
  const never = new AbortController().signal

  /** Three partners that answer when the test releases them, and the number of open calls to each. */
  function startPartners() {
    const waiting: (() => void)[] = []
    const inFlight = new Map<ProviderName, number>()
    const ask = (name: ProviderName): Promise<void> => {
      inFlight.set(name, (inFlight.get(name) ?? 0) + 1)
      return new Promise((resolve) => waiting.push(resolve))
    }
    const partner = (name: ProviderName): PaymentPartner => ({
      name,
      openOrder: async () => {
        await ask(name)
        return { kind: 'declined', failureCode: 'declined' }
      },
      readOrder: async () => {
        await ask(name)
        return null
      },
    })
    const entries = PROVIDER_NAMES.map((name) => [name, partner(name)])
    const partners = limitPartners(Object.fromEntries(entries) as Record<ProviderName, PaymentPartner>)
    return { partners, asked: (name: ProviderName) => inFlight.get(name) ?? 0, answer: () => waiting.shift()?.() }
  }

  function open(partner: PaymentPartner, attemptId: string) {
    const amount = { minor: '4999', currency: 'EUR' } as const
    const about = { description: 'an order', returnUrl: 'https://shop.example/', expiresAt: 0 }
    return partner.openOrder({ attemptId, amount, method: 'banking_app', ...about }, never)
  }

  const outcome = (call: Promise<unknown>) =>
    call.then(
      () => 'answered',
      (error: unknown) => (error instanceof PartnerError ? error.kind : error),
    )

  test('a partner that hangs gets twelve calls at once; the other calls fail soon and do not count against the partner', async () => {
    const { partners, asked, answer } = startPartners()
    const calls = Array.from({ length: 40 }, (_, index) =>
      partners.wallet_app.readOrder({ attemptId: `att_${index}`, reference: null }, never),
    )
    const begun = Date.now()
    const failed = await Promise.all(calls.slice(12).map((call) => call.catch((error: unknown) => error)))
    expect(Date.now() - begun).toBeLessThan(2000)
    expect(failed.every((error) => error instanceof PartnerError && !error.isWhole)).toBe(true)
    expect(asked('wallet_app')).toBe(12)

    // Only one kind of call to one partner hangs.
    const others = [
      partners.card_partner.readOrder({ attemptId: 'att_1', reference: null }, never),
      open(partners.wallet_app, 'att_2'),
    ]
    await setImmediate()
    expect([asked('card_partner'), asked('wallet_app')]).toEqual([1, 13])

    for (let count = 0; count < 14; count++) answer()
    await Promise.all(others)
    expect(await Promise.all(calls.slice(0, 12).map(outcome))).toEqual(Array.from({ length: 12 }, () => 'answered'))
  })

  test('every call of a burst gets its response if the partner responds', async () => {
    const { partners, answer } = startPartners()
    const calls = Array.from({ length: 60 }, () =>
      outcome(partners.wallet_app.readOrder({ attemptId: 'att_1', reference: null }, never)),
    )
    const answering = setInterval(answer, 1)
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['answered']))
    clearInterval(answering)
  })

  test('a slow partner serves two dozen of the buyers who press Continue at once', async () => {
    const { partners, asked, answer } = startPartners()
    const calls = Array.from({ length: 40 }, (_, index) => outcome(open(partners.card_partner, `att_${index}`)))
    expect(await Promise.all(calls.slice(24))).toEqual(Array.from({ length: 16 }, () => 'unknown'))
    expect(asked('card_partner')).toBe(24)
    for (let count = 0; count < 24; count++) answer()
    expect(await Promise.all(calls.slice(0, 24))).toEqual(Array.from({ length: 24 }, () => 'answered'))
  })

  test('a converter that hangs gets forty calls at once', async () => {
    let asked = 0
    const hangs = () => {
      asked++
      return new Promise<never>(() => undefined)
    }
    const converter = limitConverter({ rates: hangs, convert: hangs, cancel: hangs })
    const money = { minor: '4999', currency: 'EUR' } as const
    const calls = Array.from({ length: 60 }, (_, index) =>
      outcome(converter.convert({ key: `pay_${index}:convert`, amount: money, rate: '1.08' }, never)),
    )
    expect(await Promise.all(calls.slice(40))).toEqual(Array.from({ length: 20 }, () => 'unknown'))
    expect(asked).toBe(40)
  })

  test('a call that a partner does not support is still absent', () => {
    const { partners } = startPartners()
    expect(Object.keys(partners.wallet_app)).toEqual(['name', 'openOrder', 'readOrder'])
  })
})
