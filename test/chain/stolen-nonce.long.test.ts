import { beforeEach, describe, expect, test } from '@jest/globals'
import { acknowledgeTransfers } from '../../src/db/settlement/operator.ts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import { recordLoss } from '../../src/db/settlement/signing/treasuries.ts'
import { newAddress, TOKEN } from './fixture.ts'
import { lowerCaseAddress, useRotation } from './rotation-fixture.ts'

const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }

describe('A thief with the key of the treasury who pays himself with the nonces of open payouts', () => {
  const rotation = useRotation()
  const { fixture, old } = rotation
  beforeEach(async () => {
    await rotation.before().tick()
  })
  const pausedReason = async () => (await fixture.db.query('select pause from chain_cursor')).rows[0].pause

  test('a thief keeps no merchant from being paid by the successor, nor the payment from being voided', async () => {
    const [paid, voided] = await rotation.queueOn(old, [{}, {}])
    const runner = rotation.after()
    await runner.tick()
    const thief = newAddress()
    const thefts = [
      await rotation.carry(old, { ...paid!, recipient: thief }),
      await rotation.carry(old, { ...voided!, recipient: thief }),
    ]
    await fixture.chain.mine({ blocks: 4 })
    await fixture.finalize(runner, 2)
    expect(await pausedReason()).not.toBeNull()
    await fixture.db.transaction((tx) => recordLoss(tx, scope, { lost: lowerCaseAddress(old), to: null }))
    for (const theft of thefts) await fixture.db.transaction((tx) => acknowledgeTransfers(tx, scope, theft))
    await fixture.db.transaction((tx) => requestVoid(tx, voided!.paymentId))
    await fixture.finalize(runner, 3)
    for (let hour = 0; hour < 4; hour++) {
      await rotation.pass(60)
      await fixture.finalize(runner, 2)
    }
    expect(await pausedReason()).toBeNull()
    expect((await rotation.found(paid!)).state).toBe('settled')
    expect((await rotation.found(voided!)).state).toBe('voided')
  })
})
