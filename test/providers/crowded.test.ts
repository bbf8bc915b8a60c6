import { expect, test } from '@jest/globals'
import { PROVIDER_NAMES, type ProviderName } from '../../src/domain/methods.ts'
import { keepRoom, keepRoomBeside } from '../../src/providers/around/crowded.ts'
import { PartnerError, type PaymentPartner } from '../../src/providers/provider.ts'

const never = new AbortController().signal

/** Three partners that answer when they are told to, and how many calls each of them has in flight. */
function startPartners() {
  const waiting: (() => void)[] = []
  const inFlight = new Map<ProviderName, number>()
  const partner = (name: ProviderName): PaymentPartner => ({
    name,
    openOrder: () => Promise.reject(new Error('not asked for')),
    readOrder: async () => {
      inFlight.set(name, (inFlight.get(name) ?? 0) + 1)
      await new Promise<void>((resolve) => waiting.push(resolve))
      return null
    },
    readCallback: () => ({ kind: 'refused', reason: 'format' }),
  })
  const entries = PROVIDER_NAMES.map((name) => [name, partner(name)])
  const partners = keepRoom(Object.fromEntries(entries) as Record<ProviderName, PaymentPartner>)
  return { partners, asked: (name: ProviderName) => inFlight.get(name) ?? 0, answer: () => waiting.shift()?.() }
}

const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: unknown) => (error instanceof PartnerError ? error.kind : error),
  )

test('a partner that hangs is asked by a dozen calls at once; the others give up soon, and say nothing against it', async () => {
  const { partners, asked, answer } = startPartners()
  const calls = Array.from({ length: 40 }, (_, index) =>
    partners.wallet_app.readOrder({ attemptId: `att_${index}` }, never),
  )
  const begun = Date.now()
  const failed = await Promise.all(calls.slice(12).map((call) => call.catch((error: unknown) => error)))
  expect(Date.now() - begun).toBeLessThan(2000)
  expect(failed.every((error) => error instanceof PartnerError && !error.isWhole)).toBe(true)
  expect(asked('wallet_app')).toBe(12)

  // What hangs is one kind of call to one partner.
  void partners.card_partner.readOrder({ attemptId: 'att_1' }, never)
  await expect(
    partners.wallet_app.openOrder(
      {
        attemptId: 'att_2',
        amount: { minor: '4999', currency: 'EUR' },
        method: 'banking_app',
        description: 'an order',
        returnUrl: 'https://shop.example/',
        expiresAt: 0,
      },
      never,
    ),
  ).rejects.toThrow('not asked for')
  expect(asked('card_partner')).toBe(1)

  for (let count = 0; count < 13; count++) answer()
  expect(await Promise.all(calls.slice(0, 12).map(outcome))).toEqual(Array.from({ length: 12 }, () => 'answered'))
})

test('a burst of calls to a partner that answers gets all its answers', async () => {
  const { partners, answer } = startPartners()
  const calls = Array.from({ length: 60 }, () => outcome(partners.wallet_app.readOrder({ attemptId: 'att_1' }, never)))
  const answering = setInterval(answer, 1)
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['answered']))
  clearInterval(answering)
})

test('a converter that hangs is asked by forty calls at once', async () => {
  let asked = 0
  const hangs = () => {
    asked++
    return new Promise<never>(() => undefined)
  }
  const converter = keepRoomBeside({ rates: hangs, convert: hangs, cancel: hangs })
  const money = { minor: '4999', currency: 'EUR' } as const
  const calls = Array.from({ length: 60 }, (_, index) =>
    outcome(converter.convert({ key: `pay_${index}:convert`, amount: money, rate: '1.08' }, never)),
  )
  expect(await Promise.all(calls.slice(40))).toEqual(Array.from({ length: 20 }, () => 'unknown'))
  expect(asked).toBe(40)
})

test('what a partner cannot do, it still cannot', () => {
  const { partners } = startPartners()
  expect(Object.keys(partners.wallet_app)).toEqual(['name', 'openOrder', 'readOrder', 'readCallback'])
})
