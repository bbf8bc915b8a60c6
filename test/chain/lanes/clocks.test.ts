import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

// each signature of the other one seemed to expire at once: it was put back into the queue, round after round
test('a worker whose clock is forty minutes ahead sends what another one signs', async () => {
  const options = { leaseMs: 60_000 }
  const [ahead, right] = [world.runner({ options }), world.runner({ options })]
  const now = Date.now()
  const tick = async (runner: typeof ahead, minutes: number): Promise<void> => {
    world.clock.now = new Date(now + minutes * 60_000)
    await runner.tick()
  }
  // It has the lanes, and the other one signs.
  await tick(ahead, 40)
  const [queued] = await world.queue([{}])
  await tick(right, 0)
  expect((await world.payout(queued!.paymentId)).state).toBe('authorized')
  await tick(ahead, 40)
  expect((await world.payout(queued!.paymentId)).state).toBe('broadcast')
  for (let round = 0; round < 2; round++) {
    await world.chain.mine({ blocks: 3 })
    await tick(ahead, 40)
  }
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
})
