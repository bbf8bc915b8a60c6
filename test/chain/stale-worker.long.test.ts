import { expect, test } from '@jest/globals'
import { parseEther } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { usdcAdminAbi } from '../../src/sandbox/chain.ts'
import { useRotation } from './rotation-world.ts'
import { TOKEN } from './world.ts'

const rotation = useRotation()
const { world, old, successor } = rotation

for (const leads of ['the new worker', 'a worker from before the rotation'] as const)
  test(`money that goes from the old treasury to the new one pauses nothing while ${leads} leads`, async () => {
    const before = rotation.before()
    const both = rotation.both()
    await before.tick()
    await both.tick()
    await world.finalize(both, 3)
    const leader = leads === 'the new worker' ? both : before
    await leader.tick()
    await world.chain.setBalance({ address: old.address, value: parseEther('1') })
    const data = encodeFunctionData({
      abi: usdcAdminAbi,
      functionName: 'transfer',
      args: [successor.address, 5_000_000n],
    })
    await world.chain.sendRawTransaction({
      serializedTransaction: await old.signTransaction({
        type: 'eip1559',
        chainId: TOKEN.chainId,
        nonce: 0,
        to: TOKEN.address,
        data,
        gas: 200_000n,
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      }),
    })
    await world.chain.mine({ blocks: 4 })
    await leader.tick()
    const isDue = async () => {
      await world.chain.mine({ blocks: 260 })
      await leader.tick()
    }
    await isDue()
    await world.finalize(leader, 2)
    const { rows } = await world.db.query('select pause from chain_cursor')
    const logs = (await world.db.query('select kind, known_as, micro_usdc from treasury_log')).rows
    console.log(leads, rows, logs)
    expect(rows).toEqual([{ pause: null }])
  })
