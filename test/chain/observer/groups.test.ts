import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

test('two groups of proved payouts are ended at the same time, each payout once', async () => {
  const queued = await world.queue(Array.from({ length: 250 }, () => ({})))
  const groups: number[] = []
  let begun = (): void => undefined
  const another = new Promise<void>((resolve) => (begun = resolve))
  const runner = world.runner({
    hooks: {
      async onSettled(tx, settlements) {
        await world.hooks.onSettled(tx, settlements)
        groups.push(settlements.length)
        if (groups.length === 2) begun()
        // The first is not over before another has begun.
        await another
      },
    },
  })
  const isSent = async (): Promise<boolean> =>
    (await world.db.query(`select from payout where state <> 'assigned'`)).rows.length === 0
  for (let round = 0; round < 10 && !(await isSent()); round++) await runner.tick()
  // All of them become final together.
  await world.chain.mine({ blocks: 5 })
  for (let round = 0; round < 3; round++) await runner.tick()
  // On a slow machine a part of them is final before.
  expect(groups).toHaveLength(2)
  expect(Math.max(...groups)).toBeLessThanOrEqual(200)
  const settled = world.heard.settled.map(({ paymentId }) => paymentId)
  expect(settled.toSorted()).toEqual(queued.map(({ paymentId }) => paymentId).toSorted())
})
