import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  ALL_EVENT_TYPES,
  classifyAnswer,
  DEFAULT_EVENT_TYPES,
  DELIVERY_DELAYS_SECONDS,
  type DelayQuestion,
  DISABLE_AFTER_SECONDS,
  DISABLE_NEEDS_FAILING_SECONDS,
  deliverySummary,
  describeAnswer,
  getEventSubject,
  isOverloaded,
  isScheduleUsedUp,
  isWebhookEventType,
  longestDelaySeconds,
  nextDelaySeconds,
  renderEndpoint,
  WEBHOOK_EVENT_TYPES,
} from '../../src/domain/webhook.ts'

const calm: Omit<DelayQuestion, 'step'> = { overloaded: false, retryAfterSeconds: null, random: 0.5 }
const step = fc.integer({ min: 0, max: DELIVERY_DELAYS_SECONDS.length - 1 })
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('The schedule of deliveries', () => {
  it('the schedule has 12 tries over 75 h 42 m 35 s', () => {
    expect(DELIVERY_DELAYS_SECONDS).toHaveLength(12)
    expect(DELIVERY_DELAYS_SECONDS.reduce<number>((sum, delay) => sum + delay, 0)).toBe(75 * 3600 + 42 * 60 + 35)
  })

  it('the schedule starts at once, uses each delay, and ends', () => {
    const delays = DELIVERY_DELAYS_SECONDS.map((_, index) => nextDelaySeconds({ ...calm, step: index }))
    expect(delays).toEqual([...DELIVERY_DELAYS_SECONDS])
    expect(nextDelaySeconds({ ...calm, step: 12 })).toBeNull()
    expect([isScheduleUsedUp(11), isScheduleUsedUp(12)]).toEqual([false, true])
  })

  it('the schedule varies each delay by at most a fifth', () => {
    fc.assert(
      fc.property(step, random, (at, chance) => {
        const [scheduled, delay] = [
          DELIVERY_DELAYS_SECONDS[at]!,
          nextDelaySeconds({ ...calm, step: at, random: chance })!,
        ]
        return delay >= scheduled * 0.8 - 1e-6 && delay <= scheduled * 1.2 + 1e-6
      }),
    )
  })

  it('the schedule waits at least a minute after a timeout or "too busy"', () => {
    expect(nextDelaySeconds({ ...calm, step: 1, overloaded: true })).toBe(60)
    expect(nextDelaySeconds({ ...calm, step: 4, overloaded: true })).toBe(600)
  })

  it('Retry-After can make a try later, never earlier, up to twice the delay and a day', () => {
    const after = (retryAfterSeconds: number | null, at = 4) =>
      nextDelaySeconds({ ...calm, step: at, retryAfterSeconds })
    expect(after(null)).toBe(600)
    expect(after(5)).toBe(600)
    expect(after(900)).toBe(900)
    expect(after(10 ** 9)).toBe(1200)
    expect(after(10 ** 9, 9)).toBe(86_400)
    expect(after(Number.NaN)).toBe(600)
    expect(after(-5)).toBe(600)
  })

  it('a try is never later than the latest moment that the sweep allows for', () => {
    fc.assert(
      fc.property(
        fc.record({
          step,
          random,
          overloaded: fc.boolean(),
          // Most doubles are unrealistic values of Retry-After, so realistic ones are drawn as well.
          retryAfterSeconds: fc.option(fc.oneof(fc.integer({ min: -1, max: 200_000 }), fc.double())),
        }),
        (question) => {
          const delay = nextDelaySeconds(question)
          const without = nextDelaySeconds({ ...question, retryAfterSeconds: null })
          if (delay === null || without === null) return false
          const asked = question.retryAfterSeconds ?? 0
          if (asked > without && asked <= Math.min(2 * without, 86_400)) expect(delay).toBe(asked)
          return delay >= without && delay <= Math.max(2 * without, 0) && delay <= longestDelaySeconds(question.step)
        },
      ),
    )
  })
})

describe('The response to a delivery', () => {
  it('a response counts only if it is 2xx and arrived whole', () => {
    for (const status of [200, 201, 202, 204, 299]) expect(classifyAnswer({ status, error: null })).toBe('delivered')
    for (const status of [100, 199, 300, 301, 307, 400, 401, 404, 409, 418, 429, 500, 503, 599])
      expect(classifyAnswer({ status, error: null })).toBe('failed')
    expect(classifyAnswer({ status: 200, error: 'timeout' })).toBe('failed')
    expect(classifyAnswer({ status: null, error: 'connect' })).toBe('failed')
  })

  it('a response of 410 means that the endpoint is gone', () => {
    expect(classifyAnswer({ status: 410, error: null })).toBe('gone')
  })

  it('a response of 429, 502, 503 or 504, or none in time, asks for a pause', () => {
    const busy = [429, 502, 503, 504].map((status) => isOverloaded({ status, error: null }))
    expect(busy).toEqual([true, true, true, true])
    expect(isOverloaded({ status: null, error: 'timeout' })).toBe(true)
    expect(isOverloaded({ status: 500, error: null })).toBe(false)
  })
})

describe('Deliveries in words', () => {
  it.each([
    [200, null, 'HTTP 200'],
    [500, null, 'HTTP 500'],
    [null, 'dns', 'no response (dns)'],
    [200, 'timeout', 'HTTP 200 (timeout)'],
  ] as const)('a response of %s with the error %s is “%s”', (status, error, text) => {
    expect(describeAnswer({ status, error })).toBe(text)
  })

  it('a delivery is named by event and endpoint', () => {
    expect(deliverySummary('evt_1', 'we_1')).toBe('Webhook evt_1 to we_1')
  })
})

it('an endpoint is disabled after five days without success, twelve hours of which concern one delivery', () => {
  expect([DISABLE_AFTER_SECONDS, DISABLE_NEEDS_FAILING_SECONDS]).toEqual([432_000, 43_200])
})

describe('The object of an endpoint', () => {
  const endpoint = {
    id: 'we_1',
    livemode: true,
    url: 'https://shop.example/hooks',
    description: 'shop',
    format: 'standard',
    enabled_events: ['payment.succeeded'],
    secrets: [{ expires_at: null }],
    disabled_at: null,
    disabled_reason: null,
    failing_since: null,
    created_at: new Date('2026-11-01T00:00:00.000Z'),
    updated_at: new Date('2026-11-02T00:00:00.000Z'),
  } satisfies Parameters<typeof renderEndpoint>[0]
  const rendered = {
    id: 'we_1',
    object: 'webhook_endpoint',
    livemode: true,
    url: 'https://shop.example/hooks',
    description: 'shop',
    format: 'standard',
    enabled_events: ['payment.succeeded'],
    status: 'enabled',
    disabled_at: null,
    disabled_reason: null,
    failing_since: null,
    previous_secret_expires_at: null,
    created_at: '2026-11-01T00:00:00.000Z',
    updated_at: '2026-11-02T00:00:00.000Z',
  }

  it('an enabled endpoint has no secret in its object, and nothing that failed', () => {
    expect(renderEndpoint(endpoint)).toEqual(rendered)
  })

  it('a disabled endpoint names since when and why, and until when the previous secret is valid', () => {
    const since = '2026-11-03T00:00:00.000Z'
    const changes = {
      disabled_at: new Date(since),
      disabled_reason: 'failing' as const,
      failing_since: new Date(since),
      secrets: [{ expires_at: null }, { expires_at: since }],
    }
    expect(renderEndpoint({ ...endpoint, ...changes })).toEqual({
      ...rendered,
      status: 'disabled',
      disabled_at: since,
      disabled_reason: 'failing',
      failing_since: since,
      previous_secret_expires_at: since,
    })
  })
})

it('the subject of an event is the word before the point', () => {
  expect(getEventSubject('payment_link.completed')).toBe('payment_link')
  expect(getEventSubject('payment.succeeded')).toBe('payment')
})

it('the types of events are known', () => {
  const ofPayments =
    'succeeded created processing failed expired canceled under_review refunded chargeback chargeback_won'.split(' ')
  const ofRefunds = ['created', 'funded', 'succeeded', 'failed', 'canceled', 'expired'].map((type) => `refund.${type}`)
  const ofDisputes = ['created', 'updated', 'closed'].map((type) => `dispute.${type}`)
  const others = [
    ...ofDisputes,
    ...ofRefunds,
    'reserve.released',
    'payment_link.completed',
    'webhook_endpoint.disabled',
  ]
  expect(WEBHOOK_EVENT_TYPES).toEqual([...ofPayments.map((type) => `payment.${type}`), ...others])
  expect([DEFAULT_EVENT_TYPES, ALL_EVENT_TYPES]).toEqual([['payment.succeeded'], '*'])
  expect(isWebhookEventType('payment.succeeded')).toBe(true)
  expect(isWebhookEventType('payment.pending')).toBe(false)
})
