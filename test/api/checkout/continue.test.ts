import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { openDeposit } from '../../../src/db/payments/deposits.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { AttemptStatus } from '../../../src/domain/payment/payment.ts'
import { MAX_ATTEMPTS } from '../../../src/domain/payment/requests.ts'
import { transferLink } from '../../../src/domain/settlement/deposit.ts'
import { newId } from '../../../src/ids.ts'
import { aUsdcPart } from '../../web/fixtures.ts'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from './checkout-world.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world?.close())
beforeEach(() => {
  world.setAnswer('opens')
  world.asked.length = 0
})

const get = (path: string, country?: string) => {
  const request = supertest(world.url).get(path)
  return country === undefined ? request : request.set('x-country', country)
}
const post = (path: string, body: string | object) => supertest(world.url).post(path).type('form').send(body)
/** Pays 20 of the 54 USDC that are asked for at an address of the payment. */
async function payInPart(paymentId: string, attemptId: string): Promise<void> {
  const [address, token]: readonly [Hex, Hex] = [`0x${'d1'.repeat(20)}`, `0x${'3c'.repeat(20)}`]
  const asked = { minor: '4999', currency: 'EUR' } as const
  const intentUri = transferLink({ chainId: 137, token, address, micro: '54000000' })
  await world.change(paymentId, async (work) => {
    await work.addAttempt({ id: attemptId, provider: 'crypto', method: 'usdc', asked })
    await work.move('pending', { actor: 'buyer', message: 'opened' })
    await work.saveAttempt(attemptId, { status: 'open', redirectUrl: world.url, intentUri })
    await work.addPart({
      part: aUsdcPart(attemptId, '20000000', { minor: '1851', state: 'counted' }),
      booking: null,
    })
    await work.change({ kind: 'test.part', actor: 'partner', message: 'a part' }, { exception: 'underpaid' })
  })
  await openDeposit(world.db, {
    attemptId,
    addressOf: () => address,
    chainId: 137,
    token,
    askedMicro: '54000000',
    rate: { rate: '1.08', source: 'test', asOf: new Date().toISOString() },
    expiresAt: Math.floor(Date.now() / 1000) + 3600,
    watchSeconds: 3600,
  })
  await world.db.query(
    `insert into deposit_log (chain_id, tx_hash, log_index, payment_id, token, sender, units, block_number, block_hash, finalized_at)
     values (137, $1, 0, $2, $3, $4, 20000000, 1, $1, now())`,
    [`0x${'f1'.repeat(32)}`, paymentId, token, `0x${'55'.repeat(20)}`],
  )
}

const APP = { provider: 'wallet_app', method: 'banking_app' }

describe('Continue', () => {
  test('asks for an order and hands the buyer over to the partner', async () => {
    const { path } = await world.create({ provider: 'wallet_app' })
    const answer = await post(`${path}/continue`, APP).expect(303)
    expect(answer.headers['location']).toBe(`${path}/go`)
    expect(world.asked).toEqual([{ attemptId: expect.stringMatching(/^att_/), ...APP }])
    const handoff = await get(`${path}/go`).expect(200)
    const partnerPage = `${world.partnerUrl}/pay/${world.asked[0]?.attemptId}`
    expect(handoff.text).toContain(`<meta http-equiv="refresh" content="0;url=${partnerPage}"/>`)
    expect(handoff.text).toContain(`href="${partnerPage}"`)
    expect((await get(path)).text).toContain('Finish at Velanto')
    expect((await get(`${path}/status`)).body).toMatchObject({ status: 'pending', partner_url: partnerPage })
  })

  test('with UPI the buyer stays, and sees the code', async () => {
    const { path } = await world.create({ provider: 'local_partner' })
    await post(`${path}/continue`, { provider: 'local_partner', method: 'upi' }).expect(303)
    const page = await get(path).expect(200)
    expect(page.text).toContain('aria-label="UPI QR code: pay ₹4,536.90 to Nightline Rail"')
    expect((await get(`${path}/go`).expect(303)).headers['location']).toBe(path)
  })

  test('a decline is said on the page, and the buyer may try again', async () => {
    world.setAnswer('declines')
    const { path } = await world.create({ provider: 'wallet_app' })
    expect((await post(`${path}/continue`, APP).expect(303)).headers['location']).toBe(path)
    const page = await get(path)
    expect(page.text).toContain('Your payment was declined')
    expect(page.text).toContain(`${path}/continue`)
  })

  test('a system that cannot answer now is a page with a way to try again', async () => {
    world.setAnswer('is unavailable')
    const { path } = await world.create({ provider: 'wallet_app' })
    const answer = await post(`${path}/continue`, APP)
    expect([answer.status, answer.type, answer.headers['retry-after']]).toEqual([503, 'text/html', '5'])
    expect(answer.text).toContain('you have not been charged')
    expect(answer.text).toContain(`href="${path}"`)
  })

  test('a bug is a page without a word of the inside', async () => {
    world.setAnswer('throws')
    const { path } = await world.create({ provider: 'wallet_app' })
    const answer = await post(`${path}/continue`, APP)
    expect([answer.status, answer.type]).toEqual([500, 'text/html'])
    expect(answer.text).not.toContain('secret detail')
  })

  test('a database that is away is a page that says the payment is safe, with the time to come back', async () => {
    const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const away = () => Promise.reject(gone)
    const dark = await createCheckoutWorld({ db: { query: away, transaction: away, livemode: false } })
    try {
      const answer = await supertest(dark.url).get('/c/any')
      expect([answer.status, answer.type, answer.headers['retry-after']]).toEqual([503, 'text/html', '2'])
      expect(answer.text).toContain('Your payment is not affected.')
    } finally {
      await dark.close()
    }
  })

  test('a method that is not offered to this buyer leads back to the picker, and nothing is opened', async () => {
    const { path } = await world.create()
    const answer = await post(`${path}/continue`, APP).set('x-country', 'BR').expect(303)
    expect(answer.headers['location']).toBe(`${path}?method=wallet_app.banking_app`)
    expect((await get(`${path}?method=wallet_app.banking_app`, 'BR')).text).toContain(
      'Paying by banking app is not offered in Brazil.',
    )
    expect(world.asked).toEqual([])
  })

  test('USDC opens where deposits are taken, and is not even offered elsewhere', async () => {
    const usdc = { provider: 'crypto', method: 'usdc' }
    const { path } = await world.create({ provider: null })
    expect((await get(`${path}?step=pick`, 'DE')).text).not.toContain('USDC')
    await post(`${path}/continue`, usdc).expect(303)
    expect(world.asked).toEqual([])
    const taking = await createCheckoutWorld({ crypto: true })
    try {
      const created = await taking.create({ provider: null })
      const picker = await supertest(taking.url).get(`${created.path}?step=pick`).set('x-country', 'DE')
      expect(picker.text).toContain('?method=crypto.usdc')
      await supertest(taking.url).post(`${created.path}/continue`).type('form').send(usdc).expect(303)
      expect(taking.asked).toMatchObject([usdc])
    } finally {
      await taking.close()
    }
  })

  test('a part of the USDC refuses every other order, and every address shows how to send the rest', async () => {
    const { path, id } = await world.create()
    const attemptId = newId('attempt')
    await payInPart(id, attemptId)
    for (const choice of [APP, { provider: 'card_partner', method: 'card' }, { provider: 'crypto', method: 'usdc' }])
      expect((await post(`${path}/continue`, choice).expect(303)).headers['location']).toBe(path)
    expect(world.asked).toEqual([])
    for (const address of ['', '?step=pick', '?step=country', '?method=card_partner.card', '/frame']) {
      const { text } = await get(`${path}${address}`, 'DE').expect(200)
      expect(text).toMatch(/Arrived.*20\.00 USDC.*Missing.*<b>34\.00 USDC/s)
      expect(text).not.toMatch(/Nothing is charged|never pay twice|method=card_partner/)
    }
  })

  test('a payment that is over is shown, not opened', async () => {
    const { path, id } = await world.create({ provider: 'wallet_app' })
    await movePayment(world, id, ['canceled'])
    expect((await post(`${path}/continue`, APP).expect(303)).headers['location']).toBe(path)
    expect(world.asked).toEqual([])
    expect((await get(path)).text).toContain('The shop canceled this payment')
  })

  test.each([
    '',
    'provider=wallet_app',
    'provider=evil&method=card',
    'provider=wallet_app&method=cash',
    'provider[]=x&method=y',
  ])('the form %j is refused with a page', async (body) => {
    const { path } = await world.create()
    const answer = await post(`${path}/continue`, body)
    expect([answer.status, answer.type]).toEqual([400, 'text/html'])
    expect(world.asked).toEqual([])
  })

  test('other bodies are refused with a page: JSON, too large, too many fields', async () => {
    const { path } = await world.create()
    const json = await supertest(world.url).post(`${path}/continue`).send(APP)
    expect([json.status, json.type]).toEqual([400, 'text/html'])
    const large = await post(`${path}/continue`, `provider=${'x'.repeat(5000)}`)
    expect([large.status, large.type]).toEqual([413, 'text/html'])
    const many = await post(`${path}/continue`, Array.from({ length: 20 }, (_, i) => `f${i}=1`).join('&'))
    expect([many.status, many.type]).toEqual([400, 'text/html'])
    expect(world.asked).toEqual([])
  })

  test('another method on a path is a 405 page that names what is allowed', async () => {
    const { path } = await world.create()
    const posted = await post(`${path}/receipt`, APP)
    expect([posted.status, posted.type, posted.headers['allow']]).toEqual([405, 'text/html', 'GET, HEAD'])
    const fetched = await get(`${path}/continue`)
    expect([fetched.status, fetched.type, fetched.headers['allow']]).toEqual([405, 'text/html', 'POST'])
  })
})

describe('a form sent by another site', () => {
  test.each([
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
    ['sec-fetch-site', 'none'],
    ['origin', 'https://evil.example'],
    ['origin', 'null'],
  ])('%s: %s is refused', async (header, value) => {
    const { path } = await world.create()
    for (const [step, body] of [
      ['continue', APP],
      ['country', { country: 'BR' }],
    ] as const) {
      const answer = await post(`${path}/${step}`, body).set(header, value)
      expect([answer.status, answer.type]).toEqual([403, 'text/html'])
    }
    expect(world.asked).toEqual([])
  })

  test('an origin that only begins like ours is refused', async () => {
    const { path } = await world.create()
    expect((await post(`${path}/continue`, APP).set('origin', `${world.url}.evil.example`)).status).toBe(403)
  })

  test('our own page is heard, by what the browser says or by the origin', async () => {
    const { path } = await world.create()
    await post(`${path}/continue`, APP).set('sec-fetch-site', 'same-origin').set('origin', 'null').expect(303)
    await post(`${path}/continue`, APP).set('origin', world.url).expect(303)
  })
})

describe('Attempts after the first', () => {
  const APP = { provider: 'wallet_app', method: 'banking_app' } as const
  const CARD = { provider: 'card_partner', method: 'card' } as const
  const get = async (path: string) => (await supertest(world.url).get(path).set('x-country', 'DE').expect(200)).text
  const goOn = async (path: string, choice: typeof APP | typeof CARD = APP) =>
    (await supertest(world.url).post(`${path}/continue`).set('x-country', 'DE').type('form').send(choice).expect(303))
      .headers['location']

  /** As many attempts as asked for, all of them in that state. */
  async function withAttempts(id: string, count: number, status: AttemptStatus): Promise<void> {
    const asked = { minor: '4999', currency: 'EUR' } as const
    await world.change(id, async (work) => {
      for (let attempt = 0; attempt < count; attempt++) {
        const attemptId = newId('attempt')
        await work.addAttempt({ id: attemptId, ...APP, asked })
        await work.saveAttempt(attemptId, { status })
      }
      if (work.state.payment.status === 'created') await work.move('pending', { actor: 'buyer', message: 'opened' })
    })
  }

  describe('an order that is open', () => {
    test('is what a second click and a return to the checkout lead to, and the workflow is asked once', async () => {
      const { path } = await world.create()
      expect(await goOn(path)).toBe(`${path}/go`)
      for (let click = 0; click < 3; click++) expect(await goOn(path)).toBe(`${path}/go`)
      expect(world.asked).toHaveLength(1)
      expect(await get(`${path}/go`)).toContain(`${world.partnerUrl}/pay/${world.asked[0]?.attemptId}`)
    })

    test('is gone on with during the identity check', async () => {
      const { path, id } = await world.create()
      await goOn(path)
      const attemptId = world.asked[0]?.attemptId ?? ''
      await world.change(id, (work) => work.saveAttempt(attemptId, { status: 'verification_required' }))
      expect(await goOn(path)).toBe(`${path}/go`)
      expect(world.asked).toHaveLength(1)
    })

    test.each(['declined', 'expired', 'canceled'] as const)(
      'is not gone on with once the row says that it is %s: the workflow opens another',
      async (status) => {
        const { path, id } = await world.create()
        await goOn(path)
        const first = world.asked[0]?.attemptId ?? ''
        await world.change(id, (work) => work.saveAttempt(first, { status }))
        expect(await goOn(path)).toBe(`${path}/go`)
        expect(world.asked).toHaveLength(2)
        const page = await get(`${path}/go`)
        expect(page).toContain(`/pay/${world.asked[1]?.attemptId}`)
        expect(page).not.toContain(`/pay/${first}`)
      },
    )

    test('is not gone on with for another way to pay: the workflow cancels it first', async () => {
      const { path } = await world.create()
      await goOn(path)
      await goOn(path, CARD)
      expect(world.asked).toMatchObject([APP, CARD])
    })
  })

  describe('a payment that was started twenty times', () => {
    test('says so without asking the workflow, that paid money is safe, and how to get a new link', async () => {
      const { path, id } = await world.create()
      await withAttempts(id, MAX_ATTEMPTS, 'declined')
      expect(await goOn(path)).toBe(`${path}?method=wallet_app.banking_app`)
      expect(world.asked).toEqual([])
      for (const page of [path, `${path}?step=pick`, `${path}?method=wallet_app.banking_app`]) {
        const text = await get(page)
        expect(text).toContain('This payment was started too many times')
        expect(text).toMatch(
          /Did you pay in one of the earlier attempts\?<\/b> Then do not pay again: that money is safe/,
        )
        expect(text).toContain('To pay, ask Nightline Rail for a new payment link.')
        expect(text).not.toContain(`${path}/continue`)
      }
    })

    test('one try before that is still opened', async () => {
      const { path, id } = await world.create()
      await withAttempts(id, MAX_ATTEMPTS - 1, 'declined')
      expect(await goOn(path)).toBe(`${path}/go`)
      expect(world.asked).toHaveLength(1)
    })

    test('is gone on with in the order that is open, but in no other way', async () => {
      const { path, id } = await world.create()
      await withAttempts(id, MAX_ATTEMPTS - 1, 'declined')
      await goOn(path)
      expect(await goOn(path)).toBe(`${path}/go`)
      expect(await goOn(path, CARD)).toBe(`${path}?method=card_partner.card`)
      expect(world.asked).toHaveLength(1)
      const text = await get(`${path}?method=card_partner.card`)
      expect(text).toContain('This payment was started too many times')
      expect(text).toContain(`<a class="button fill" href="${path}"><span>Go back to the payment you started</span>`)
      expect(await get(path)).toContain('Finish at Velanto')
    })

    test('an order whose opening was interrupted can be asked for again', async () => {
      const { path, id } = await world.create()
      await withAttempts(id, MAX_ATTEMPTS - 1, 'declined')
      await withAttempts(id, 1, 'opening')
      const again = `${path}?method=wallet_app.banking_app`
      expect(await get(path)).toContain(`href="${again}"><span>Go back to the payment you started</span>`)
      expect(await get(again)).toContain(`action="${path}/continue"`)
      await goOn(path)
      expect(world.asked).toHaveLength(1)
    })

    test('says so too when the workflow counted one more than the page knew', async () => {
      const late = await createCheckoutWorld({ openAttempt: async () => ({ kind: 'too_many_attempts' }) })
      try {
        const { path } = await late.create()
        const request = supertest(late.url).post(`${path}/continue`).set('x-country', 'DE').type('form').send(APP)
        expect((await request.expect(303)).headers['location']).toBe(`${path}?method=wallet_app.banking_app`)
      } finally {
        await late.close()
      }
    })
  })
})
