import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { changeOf, changePayout, type Operation } from '../../src/operator/payouts.ts'
import { rebuild } from '../../src/operator/rebuild.ts'
import { showStatus } from '../../src/operator/status.ts'
import { createWorld, settingsOf, type World } from '../chain/world.ts'

let world: World
let said: string[]
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.stop())

function operation(dryRun = false): Operation {
  said = []
  return {
    db: world.db,
    settings: settingsOf(world),
    hooks: world.hooks,
    dryRun,
    say: (line) => void said.push(line),
  }
}

const state = async (paymentId: string) => (await world.payout(paymentId)).state
const change = (name: 'void' | 'hold' | 'release', paymentId: string, dryRun = false) => {
  const asked = operation(dryRun)
  return changePayout(asked, paymentId, changeOf(name, asked))
}

test('an operator holds a payout, releases it, and sees before and after; a dry run changes nothing', async () => {
  const [queued] = await world.queue([{}])
  const id = queued!.paymentId
  expect(await change('hold', id, true)).toBe(0)
  expect(said.join('\n')).toContain('held(operator)')
  expect(await state(id)).toBe('queued')
  expect(await change('hold', id)).toBe(0)
  const runner = world.runner()
  await world.finalize(runner)
  expect(await state(id)).toBe('held')
  expect(await showStatus(operation())).toBe(1)
  expect(said[0]).toMatch(/^No money is moving: 1 payout of [\d.]+ USDC is held \(operator\) until somebody decides\.$/)
  expect(said).toContainEqual(expect.stringMatching(/^ {2}held\(operator\) +1 payouts/))
  expect(await change('release', id)).toBe(0)
  await world.finalize(runner)
  expect(await state(id)).toBe('settled')
  expect(await change('hold', id)).toBe(1)
})

test('an operator voids a payout: it is cancelled on chain and cannot be paid any more', async () => {
  const [queued] = await world.queue([{}])
  expect(await change('void', queued!.paymentId, true)).toBe(0)
  expect(await state(queued!.paymentId)).toBe('queued')
  expect(await change('void', queued!.paymentId)).toBe(0)
  await world.finalize(world.runner())
  expect(await state(queued!.paymentId)).toBe('voided')
  expect(await world.balance(queued!.recipient)).toBe(0n)
})

test('a payment without a payout is refused', async () => {
  await expect(change('void', 'pay_nobody')).rejects.toThrow('has no payout')
})

test('settlements are made anew from the chain and the payments alone, as often as one likes', async () => {
  const queued = await world.queue([{}, {}, {}])
  await world.finalize(world.runner())
  // None of them hands its payout over again: one has ended, the others wait for theirs.
  await world.db.query(
    `update payment set status = 'settling', net_micro = p.micro_usdc from payout p where p.payment_id = payment.id`,
  )
  await world.db.query(`update payment set status = 'succeeded' where id = $1`, [queued[0]!.paymentId])
  await world.db.query(
    'truncate lane_tx_item, lane_tx_attempt, lane_tx, lane, chain_cursor, treasury_log, treasury_hour, payout_signature, void_proof, payout, payment_receipt',
  )
  world.heard.settled.length = 0
  expect(await rebuild(operation(true))).toBe(0)
  expect(said).toContainEqual(expect.stringContaining('4 are paid on chain and unknown here'))
  expect((await world.db.query('select from payout')).rowCount).toBe(0)

  expect(await rebuild(operation())).toBe(0)
  for (const { paymentId } of queued) expect(await state(paymentId)).toBe('settled')
  expect(world.heard.settled).toHaveLength(4)
  expect(await rebuild(operation())).toBe(0)
  expect(said).toContainEqual(expect.stringContaining('4 payouts are settled here and on chain, 0 are paid'))
  expect(world.heard.settled).toHaveLength(4)

  const [next] = await world.queue([{}])
  await world.finalize(world.runner(), 3)
  for (const { recipient, micro } of [...queued, next!]) expect(await world.balance(recipient)).toBe(micro)
})

test('a payout that is settled here and not paid on chain is pointed out', async () => {
  const [queued] = await world.queue([{}])
  await world.db.query(`update payout set state = 'settled' where payment_id = $1`, [queued!.paymentId])
  expect(await rebuild(operation(true))).toBe(1)
  expect(said).toContainEqual(`LOOK AT THIS: ${queued!.paymentId} is settled here and not paid on chain`)
})

test('a payout that went to another wallet than the payment names is pointed out', async () => {
  const [named, paid] = await world.queue([{}, {}])
  await world.finalize(world.runner())
  // As if the records had been changed since.
  await world.db.query('alter table payment disable trigger user')
  await world.db.query('update payment set destination = $2 where id = $1', [named!.paymentId, paid!.recipient])
  await world.db.query('alter table payment enable trigger user')
  expect(await rebuild(operation(true))).toBe(1)
  expect(said).toContainEqual(
    `LOOK AT THIS: ${named!.paymentId} was paid ${named!.micro} to ${named!.recipient.toLowerCase()}, owed null to ${paid!.recipient.toLowerCase()}`,
  )
})
