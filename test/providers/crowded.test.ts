import { expect, test } from '@jest/globals'
import { PROVIDER_NAMES, type ProviderName } from '../../src/domain/methods.ts'
import { keepRoom, keepRoomBeside } from '../../src/providers/around/crowded.ts'
import { PartnerError, type PaymentPartner } from '../../src/providers/provider.ts'

const never = new AbortController().signal

/** Three partners that answer when they are told to, and how many calls each of them has in flight. */
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
    readCallback: () => ({ kind: 'refused', reason: 'format' }),
  })
  const entries = PROVIDER_NAMES.map((name) => [name, partner(name)])
  const partners = keepRoom(Object.fromEntries(entries) as Record<ProviderName, PaymentPartner>)
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
  const others = [partners.card_partner.readOrder({ attemptId: 'att_1' }, never), open(partners.wallet_app, 'att_2')]
  await new Promise(setImmediate)
  expect([asked('card_partner'), asked('wallet_app')]).toEqual([1, 13])

  for (let count = 0; count < 14; count++) answer()
  await Promise.all(others)
  expect(await Promise.all(calls.slice(0, 12).map(outcome))).toEqual(Array.from({ length: 12 }, () => 'answered'))
})

test('a burst of calls to a partner that answers gets all its answers', async () => {
  const { partners, answer } = startPartners()
  const calls = Array.from({ length: 60 }, () => outcome(partners.wallet_app.readOrder({ attemptId: 'att_1' }, never)))
  const answering = setInterval(answer, 1)
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['answered']))
  clearInterval(answering)
})

test('of buyers who press Continue at once two dozen are served, by a partner that takes its time', async () => {
  const { partners, asked, answer } = startPartners()
  const calls = Array.from({ length: 40 }, (_, index) => outcome(open(partners.card_partner, `att_${index}`)))
  expect(await Promise.all(calls.slice(24))).toEqual(Array.from({ length: 16 }, () => 'unknown'))
  expect(asked('card_partner')).toBe(24)
  for (let count = 0; count < 24; count++) answer()
  expect(await Promise.all(calls.slice(0, 24))).toEqual(Array.from({ length: 24 }, () => 'answered'))
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
