import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import supertest from 'supertest'
import type { AttemptStatus } from '../../src/domain/payment/payment.ts'
import { MAX_ATTEMPTS } from '../../src/domain/payment/requests.ts'
import { newId } from '../../src/ids.ts'
import { type CheckoutWorld, createCheckoutWorld } from './checkout-world.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.setAnswer('opens')
  world.asked.length = 0
})

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
      expect(text).toMatch(/Did you pay in one of the earlier tries\?<\/b> Then do not pay again: that money is safe/)
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
