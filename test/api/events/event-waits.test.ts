import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { EVENT } from '../../../src/api/document/examples.ts'
import { createEventWaits, type EventWaits, type EventWaitsDeps } from '../../../src/api/live/event-waits.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'

const A = { merchantId: 'mer_a', livemode: false }
const B = { merchantId: 'mer_b', livemode: false }
const LONG = { after: 0, ms: 60_000 }

describe('Requests that wait for events', () => {
  const opened: EventWaits[] = []
  afterEach(() => opened.splice(0).forEach((waits) => waits.close()))

  const open = (deps: Partial<EventWaitsDeps> = {}) => {
    const last = new Map<string, number>()
    const reads: string[][] = []
    const waits = createEventWaits({
      readLast: async (tenants) => {
        reads.push(tenants.map(({ merchantId }) => merchantId))
        return tenants.map((tenant) => ({ ...tenant, last: last.get(tenant.merchantId) ?? 0 }))
      },
      onError: () => undefined,
      ...deps,
    })
    opened.push(waits)
    return { waits, last, reads }
  }

  test('a request ends when its own account has an event after its number', async () => {
    const { waits, last } = open()
    const ended: string[] = []
    const first = waits.wait(A, { ...LONG, after: 4 }).then(() => ended.push('a'))
    const second = waits.wait(B, LONG).then(() => ended.push('b'))
    last.set('mer_a', 4)
    last.set('mer_b', 1)
    await second
    expect(ended).toEqual(['b'])
    last.set('mer_a', 5)
    waits.refresh()
    await first
    expect(ended).toEqual(['b', 'a'])
  })

  test('one read serves all requests, and names each account once', async () => {
    const { waits, last, reads } = open()
    last.set('mer_a', 1).set('mer_b', 1)
    await Promise.all([waits.wait(A, LONG), waits.wait(A, LONG), waits.wait(B, LONG)])
    expect(reads).toEqual([['mer_a', 'mer_b']])
  })

  test('a request ends when its time is over, and when the process ends', async () => {
    const { waits } = open()
    expect(await waits.wait(A, { after: 0, ms: 1 })).toBe(true)
    const waiting = waits.wait(A, LONG)
    waits.close()
    expect(await waiting).toBe(true)
    expect(await waits.wait(A, LONG)).toBe(false)
  })

  test('a read that fails is repeated', async () => {
    let tries = 0
    const readLast = async () => {
      tries += 1
      if (tries === 1) throw new Error('the database is away')
      return [{ ...A, last: 1 }]
    }
    const errors: unknown[] = []
    await open({ readLast, onError: (error) => errors.push(error) }).waits.wait(A, LONG)
    expect([tries, errors]).toEqual([2, [new Error('the database is away')]])
  })

  test('an account has a limited number of them, which leaves room for others', async () => {
    const { waits } = open({ mostOfAccount: 2, most: 3 })
    const waiting = [waits.wait(A, LONG), waits.wait(A, LONG)]
    expect(await waits.wait(A, LONG)).toBe(false)
    waiting.push(waits.wait(B, LONG))
    expect(await waits.wait(B, LONG)).toBe(false)
    waits.close()
    expect(await Promise.all(waiting)).toEqual([true, true, true])
  })
})

describe('Waiting for events by the API', () => {
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi()
  })
  afterAll(() => testApi?.close())

  test('the api answers with an event that is recorded while it waits, and with none when the time is over', async () => {
    const own = await testApi.asNewMerchant()
    expect((await own.ask('GET', '/v1/events?after_sequence=0&wait=1')).body).toMatchObject({ data: [] })
    const waiting = own.ask('GET', '/v1/events?after_sequence=0&wait=25')
    const about = { type: 'payment.succeeded', paymentId: null, object: EVENT.data.object }
    await own.db.transaction((tx) => recordEvent(tx, { ...own.tenant, ...about, at: new Date().toISOString() }))
    expect((await waiting).text).toContain('"sequence":1')
  })

  test.each([
    ['/v1/events?wait=5', 'wait: needs after_sequence'],
    ['/v1/events?after_sequence=0&wait=5&type=payment.failed', 'wait: needs after_sequence, and neither type'],
    ['/v1/events?after_sequence=0&wait=26', 'must be a whole number from 0 to 25'],
  ])('the api refuses to wait as in %s', async (path, why) => {
    expect(await testApi.ask('GET', path)).toMatchObject({ status: 400, text: expect.stringContaining(why) })
  })
})
