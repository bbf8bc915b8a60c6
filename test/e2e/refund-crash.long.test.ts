import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/demo/journey.ts'
import { findDifferences } from '../support/differences.ts'
import { createRefunds, type Refunds, WITH_ADDRESSES } from './harness/refunds.ts'
import { readAttempts, startTestSystem, success, type TestSystem, temporaryFolder } from './harness/test-system.ts'

/** kill -9 at each step of a refund: the test holds what the worker needs next, and kills it while it waits for that. */

const REACHED_WITHIN_MS = 60_000

const folder = temporaryFolder()
let testSystem: TestSystem
let refunds: Refunds
beforeAll(async () => {
  testSystem = await startTestSystem({ folder, env: WITH_ADDRESSES })
  refunds = createRefunds(testSystem)
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
  rmSync(folder, { recursive: true, force: true })
})

type Hold = { readonly reached: Promise<void>; readonly release: () => void | Promise<void> }
/** A refund that is held at one point; the process that works on it can be killed now. */
type Held = { readonly id: string; readonly attemptId: string; readonly release: Hold['release'] }

async function settledPayment() {
  const payment = await testSystem.create()
  await testSystem.pay(payment)
  await success(testSystem, payment.id)
  const attemptId = (await readAttempts(testSystem, payment.id))[0]?.id ?? ''
  return { paymentId: payment.id, attemptId }
}

async function openRefund() {
  const { paymentId, attemptId } = await settledPayment()
  const { id } = await refunds.create(paymentId, { amount: '10' })
  const address = await until(async () => (await refunds.read(id)).funding?.address ?? null, `the address of ${id}`)
  return { id, paymentId, attemptId, address }
}
type Opened = Awaited<ReturnType<typeof openRefund>>

async function isReached(what: string, { reached, release }: Hold): Promise<void> {
  let isHeld = false
  void reached.then(() => {
    isHeld = true
  })
  await until(async () => (isHeld ? true : null), `${what} to be held`, REACHED_WITHIN_MS).catch(async (error) => {
    // A hold that no process reached must not block the later ones.
    await release()
    throw error
  })
}

/** The refund gets its USDC, and is held then. */
async function heldAfterFunding(opened: Opened, hold: Hold): Promise<Held> {
  await refunds.fund(opened.id)
  await isReached(opened.id, hold)
  return { ...opened, release: hold.release }
}

const orderPath = ({ attemptId }: Opened) => `/wallet-app/v2/orders/by-ref/${attemptId}`
const asking = (opened: Opened) => [`POST ${orderPath(opened)}/refunds\n`]

const throughPartner = (at: 'request' | 'answer', containing: (opened: Opened) => string[]) => async () => {
  const opened = await openRefund()
  return heldAfterFunding(opened, testSystem.partners.hold({ at, containing: containing(opened) }))
}

const throughChain = (at: 'request' | 'answer') => async () => {
  const opened = await openRefund()
  const containing = ['eth_sendRawTransaction', opened.address.slice(2)]
  return heldAfterFunding(opened, testSystem.chain.hold({ at, containing }))
}

const lockRefund = ({ id }: Opened) => testSystem.lock('select 1 from refund where id = $1 for update', [id])

type CrashPoint = { readonly at: string; readonly hold: () => Promise<Held> }

const UNFUNDED = 'after the refund was created, before its address is stored'

/** Points with their own kill: the addresses of all refunds are locked, or a lane that sweeps several is held. */
const ALONE: readonly CrashPoint[] = [
  {
    at: UNFUNDED,
    hold: async () => {
      const { paymentId, attemptId } = await settledPayment()
      const lock = await testSystem.lock('lock table deposit in share row exclusive mode')
      const { id } = await refunds.create(paymentId, { amount: '10' })
      await isReached(id, lock)
      return { id, attemptId, release: lock.release }
    },
  },
  { at: 'after the sweep was signed and stored, before it is sent', hold: throughChain('request') },
  { at: 'after the sweep was sent, before the answer came', hold: throughChain('answer') },
]

const TOGETHER: readonly CrashPoint[] = [
  {
    at: 'after the USDC is final, before it is recorded',
    hold: async () => {
      const opened = await openRefund()
      // The run says when it acts next, and would wait for the lock too.
      const waiting = "select 1 from refund where id = $1 and due_at > now() + interval '1 hour'"
      await until(
        async () => ((await testSystem.db.query(waiting, [opened.id])).rowCount === 1 ? true : null),
        'the run',
      )
      return heldAfterFunding(opened, await lockRefund(opened))
    },
  },
  {
    at: 'before the refund is looked for at the partner',
    hold: throughPartner('request', (opened) => [`GET ${orderPath(opened)}/refunds/`]),
  },
  { at: 'after the request was stored, before the partner is asked', hold: throughPartner('request', asking) },
  { at: 'after the partner has refunded, before its answer came', hold: throughPartner('answer', asking) },
  {
    at: 'after the answer came, before it is recorded',
    hold: async () => {
      const opened = await openRefund()
      const held = await heldAfterFunding(
        opened,
        testSystem.partners.hold({ at: 'answer', containing: asking(opened) }),
      )
      const lock = await lockRefund(opened)
      await held.release()
      await isReached(opened.id, lock)
      return { ...opened, release: lock.release }
    },
  },
]

describe('The worker is killed', () => {
  /** The refund held at each point, or the reason why it was not. */
  const held = new Map<string, PromiseSettledResult<Held>>()

  beforeAll(async () => {
    for (const point of ALONE) await killAt([point])
    await killAt(TOGETHER)
  }, 300_000)

  async function killAt(points: readonly CrashPoint[]): Promise<void> {
    const reached = await Promise.allSettled(points.map(({ hold }) => hold()))
    await testSystem.kill('worker')
    for (const [index, result] of reached.entries()) {
      if (result.status === 'fulfilled') await result.value.release()
      held.set(points[index]?.at ?? '', result)
    }
    await testSystem.system.children.get('worker')?.untilReady()
  }

  test.each([...ALONE, ...TOGETHER])(
    'a refund whose worker is killed is made once: $at',
    async ({ at }) => {
      const point = held.get(at)
      if (point?.status !== 'fulfilled') throw new Error('it was never reached', { cause: point?.reason })
      const { id, attemptId } = point.value
      if (at === UNFUNDED) await refunds.fund(id)
      await until(
        async () => ((await refunds.read(id)).status === 'succeeded' ? true : null),
        `${id} to succeed`,
        120_000,
      )
      const answer = await fetch(`${testSystem.system.sandboxUrl}/wallet-app/sandbox/orders/${attemptId}`)
      expect(await answer.json()).toMatchObject({
        status: 'paid',
        refunds: [{ key: id, minor: '1000' }],
      })
      const { rows } = await until(async () => {
        const swept = await testSystem.db.query(
          `select r.required_micro::text as required, d.taken_micro::text as taken from refund r join deposit d on d.refund_id = r.id
           where r.id = $1 and d.unswept_micro = 0`,
          [id],
        )
        return swept.rowCount === 1 ? swept : null
      }, 'the sweep')
      expect(rows[0].taken).toBe(rows[0].required)
    },
    180_000,
  )

  test('the books agree after all refunds, and no refund was announced twice', async () => {
    expect([...held.values()].filter(({ status }) => status === 'fulfilled')).toHaveLength(
      ALONE.length + TOGETHER.length,
    )
    await until(
      async () => ((await findDifferences(testSystem.db)).length === 0 ? true : null),
      'the books to agree',
    ).catch(() => undefined)
    expect(await findDifferences(testSystem.db)).toEqual([])
    const { rows } = await testSystem.db.query(
      `select convert_from(body, 'utf8')::jsonb->'data'->'object'->>'id' as id, array_agg(type order by sequence) as types
       from event where type like 'refund.%' group by 1`,
    )
    for (const { types } of rows) expect(types).toEqual(['refund.created', 'refund.funded', 'refund.succeeded'])
    expect(rows).toHaveLength(ALONE.length + TOGETHER.length)
  }, 120_000)
})
