import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createRotation, PROVIDERS_BY_DRIVER, playStories } from '../../scripts/demo/driver-stories.ts'
import { type StripeMock, startStripeMock } from '../partners/stripe/stripe-mock.ts'
import { findDifferences } from '../support/differences.ts'
import { startTestSystem, type TestSystem, temporaryFolder } from './harness/test-system.ts'

/** The stories of `npm run demo -- --drivers stripe,revolut,razorpay`, with Stripe's own validator in between. */

const DRIVERS = ['stripe', 'revolut', 'razorpay'] as const
const ROTATIONS = Object.fromEntries(DRIVERS.map((driver) => [driver, createRotation(driver)]))

const folder = temporaryFolder()
let mock: StripeMock
let testSystem: TestSystem
beforeAll(async () => {
  mock = await startStripeMock()
  const front = await mock.createFront()
  const env: Record<string, string> = { CARD_PARTNER_URL: `${front('')}/card-partner` }
  for (const driver of DRIVERS) {
    const at = PROVIDERS_BY_DRIVER[driver].toUpperCase()
    env[`PROVIDER_${at}`] = driver
    env[`${at}_WEBHOOK_SECRETS`] = `${ROTATIONS[driver]!.old},${ROTATIONS[driver]!.new}`
  }
  testSystem = await startTestSystem({ folder, env })
  front(testSystem.system.sandboxUrl)
}, 900_000)
afterAll(async () => {
  await testSystem?.stop()
  await mock?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('Payments by the drivers of real partners, in a whole system', () => {
  test.each(DRIVERS)(
    'each story by %s ends as it must',
    async (driver) => {
      const { merchant, system } = testSystem
      const said: string[] = []
      const say = (step: string) => void said.push(step)
      await playStories({ driver, rotation: ROTATIONS[driver]!, merchant, system, say })
      expect(said).toHaveLength(8)
    },
    300_000,
  )

  test('the books agree with the partners and the chain', async () => {
    expect(await findDifferences(testSystem.db)).toEqual([])
  })

  test('stripe-mock has accepted every request to Stripe', () => {
    const calls = mock.checked.filter(({ request }) => request.includes(' /v1/'))
    expect(calls.length).toBeGreaterThan(15)
    expect(calls.filter(({ refusal }) => refusal !== null)).toEqual([])
  })
})
