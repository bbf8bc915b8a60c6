import { expect, test } from '@jest/globals'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import { recordLoss } from '../../src/db/settlement/signing/treasuries.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { copyDatabase } from './databases.ts'
import { TOKEN } from './fixture.ts'
import { lowerCaseAddress, passRests, useRotation } from './rotation-fixture.ts'

const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
const rotation = useRotation()
const { fixture, old } = rotation

/**
 * A standby that lacks the last seconds takes over, without the key. `raw`: a transaction in other pools, not mined
 * yet.
 */
async function failOver() {
  const before = rotation.before()
  await before.tick()
  await fixture.finalize(before, 2)
  const [queued] = await rotation.queueOn(old, [{ micro: 5_000_000n }])
  const standby = await copyDatabase(fixture.db)
  await before.tick()
  const { rows } = await fixture.db.query(
    `select tx_hash, '0x' || encode(raw, 'hex') as raw from lane_tx_attempt order by signed_at desc limit 1`,
  )
  const { tx_hash: hash, raw } = rows[0] as { tx_hash: Hex; raw: Hex }
  await fixture.chain.dropTransaction({ hash })
  const runner = rotation.after({ db: standby.db })
  await runner.tick()
  const mine = async () => {
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    await fixture.chain.mine({ blocks: 3 })
  }
  return { queued: queued!, standby, runner, mine }
}

test('a payout is paid once though the standby that took over lacks the last seconds and the key of the treasury is lost', async () => {
  const { queued, standby, runner, mine } = await failOver()
  await standby.db.transaction((tx) => recordLoss(tx, scope, { lost: lowerCaseAddress(old), to: null }))
  for (let round = 0; round < 5; round++) {
    await fixture.chain.mine({ blocks: 3 })
    await passRests(standby.db, 1)
    await runner.tick()
  }
  await mine()
  standby.giveBack()
  expect(await fixture.balance(queued.recipient)).toBe(5_000_000n)
})

test('a payout is not voided while a signature that the standby lacks can still pay it', async () => {
  const { queued, standby, runner, mine } = await failOver()
  await standby.db.transaction((tx) => requestVoid(tx, queued.paymentId))
  for (let round = 0; round < 3; round++) {
    await fixture.chain.mine({ blocks: 3 })
    await runner.tick()
  }
  const { rows } = await standby.db.query('select state from payout where payment_id = $1', [queued.paymentId])
  await mine()
  standby.giveBack()
  expect(rows).toEqual([{ state: 'voiding' }])
})
