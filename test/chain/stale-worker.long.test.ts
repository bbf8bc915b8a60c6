import { expect, test } from '@jest/globals'
import { transferUsdc } from './fixture.ts'
import { lowerCaseAddress, useRotation } from './rotation-fixture.ts'

const rotation = useRotation()
const { fixture, old, successor } = rotation

for (const leads of ['the new worker', 'a worker from before the rotation'] as const)
  test(`money that moves from the old treasury to the new one pauses nothing while ${leads} leads`, async () => {
    const before = rotation.before()
    const both = rotation.both()
    await before.tick()
    await both.tick()
    await fixture.finalize(both, 3)
    const leader = leads === 'the new worker' ? both : before
    await leader.tick()
    await transferUsdc(fixture, { from: old, to: lowerCaseAddress(successor), micro: 5_000_000n })
    await fixture.chain.mine({ blocks: 4 })
    await leader.tick()
    // Then the logs are read, although nothing differs.
    await fixture.chain.mine({ blocks: 260 })
    await leader.tick()
    await fixture.finalize(leader, 2)
    const { rows } = await fixture.db.query('select pause from chain_cursor')
    expect(rows).toEqual([{ pause: null }])
  })
