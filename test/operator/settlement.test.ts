import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner } from '../../src/chain/authorization.ts'
import { GWEI } from '../../src/chain/lanes/fees.ts'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import { Secret } from '../../src/config/secret.ts'
import { setWallet } from '../../src/db/merchants/wallets.ts'
import { listAttention } from '../../src/db/payments/attention.ts'
import { storeRelease } from '../../src/db/reserves/releases.ts'
import { queuePayout } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { ABANDONED, type Settlement } from '../../src/domain/settlement/payout.ts'
import { releaseId } from '../../src/evm/release-id.ts'
import { changePayout } from '../../src/operator/payouts.ts'
import { rebuild } from '../../src/operator/rebuild.ts'
import { repairFinality } from '../../src/operator/repair.ts'
import { showStatus } from '../../src/operator/status.ts'
import { asUsdcOwner, usdcAdminAbi } from '../../src/sandbox/chain.ts'
import {
  createSettings,
  insertPayments,
  newAddress,
  type Queued,
  stealUsdc,
  TOKEN,
  useFixture,
} from '../chain/fixture.ts'
import { type HostileNode, startHostileNode } from '../support/hostile-node.ts'
import { plant } from '../support/plant.ts'
import { createOperations, createReversals } from './operations.ts'

const fixture = useFixture()

const { said, operation } = createOperations(fixture)

describe('payouts', () => {
  beforeAll(() => fixture.reset())

  const state = async (paymentId: string) => (await fixture.payout(paymentId)).state
  const change = (name: 'void' | 'stop' | 'resume', paymentId: string, dryRun = false) => {
    return changePayout(operation(dryRun), paymentId, name)
  }

  /** The reserve of a payment was due on the day, and is queued for release to the payment's wallet. Returns its id. */
  async function plantRelease(
    { paymentId, recipient }: Queued,
    { day, micro }: { readonly day: string; readonly micro: string },
  ): Promise<string> {
    const reserve = `update payment set reserve_percent = 10, reserve_days = 1, reserved_micro = $2,
      finalized_at = $3::date - interval '2 days' where id = $1 returning merchant_id`
    await plant(fixture.db, reserve, [paymentId, micro, day])
    const { rows } = await fixture.db.query('select merchant_id from payment where id = $1', [paymentId])
    const { merchant_id: merchantId } = rows[0] as { merchant_id: string }
    await setWallet(fixture.db, { merchantId, livemode: false }, recipient)
    const id = releaseId({ merchantId, livemode: false, day })
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address.toLowerCase() as Hex }
    const treasury = fixture.treasury.address.toLowerCase() as Hex
    const at = `${day}T00:00:00.000Z`
    await fixture.db.transaction((tx) =>
      storeRelease(tx, scope, {
        id,
        merchantId,
        day,
        recipient,
        micro,
        parts: [{ of: 'reserve', paymentId, micro }],
        treasury,
        at,
      }),
    )
    return id
  }

  test('an operator stops a payout, releases it, and reads its state before and after; a dry run changes nothing', async () => {
    const [queued] = await fixture.queue([{}])
    const id = queued!.paymentId
    await plant(fixture.db, `update payment set payout = 'handed' where id = $1`, [id])
    expect(await change('stop', id, true)).toBe(0)
    expect(said.join('\n')).toContain('stopped(operator)')
    expect(await state(id)).toBe('queued')
    expect(await change('stop', id)).toBe(0)
    const runner = fixture.runner()
    await fixture.finalize(runner)
    expect(await state(id)).toBe('stopped')
    expect(await showStatus(operation())).toBe(1)
    expect(said[0]).toMatch(
      /^No other payout waits to be paid, but look at this: 1 payout of [\d.]+ USDC is stopped \(operator\) until an operator decides \(pay_\w+: stopped by an operator at the command line\)\.$/,
    )
    expect(said).toContainEqual(expect.stringMatching(/^ {2}stopped\(operator\) +1 payout /))
    expect(await change('resume', id)).toBe(0)
    await fixture.finalize(runner)
    expect(await state(id)).toBe('settled')
    expect(await change('stop', id)).toBe(1)
  })

  test('an operator voids a payout: it is canceled on chain and cannot be paid any more', async () => {
    const [queued] = await fixture.queue([{}])
    expect(await change('void', queued!.paymentId, true)).toBe(0)
    expect(await state(queued!.paymentId)).toBe('queued')
    expect(await change('void', queued!.paymentId)).toBe(0)
    await fixture.finalize(fixture.runner())
    expect(await state(queued!.paymentId)).toBe('voided')
    expect(await fixture.balance(queued!.recipient)).toBe(0n)
  })

  test('a payment without a payout is refused', async () => {
    await expect(change('void', 'pay_nobody')).rejects.toThrow('has no payout')
  })

  test('settlements are rebuilt from the chain and the payments alone, with the times of their blocks, any number of times', async () => {
    const queued = await fixture.queue([{}, {}, {}])
    await fixture.finalize(fixture.runner())
    // None of them hands its payout over again: one has ended, the others wait for theirs.
    await fixture.db.query(
      `update payment set status = 'settling', net_micro = p.micro_usdc from payout p where p.payment_id = payment.id`,
    )
    await fixture.db.query(`update payment set status = 'succeeded' where id = $1`, [queued[0]!.paymentId])
    await fixture.db.query(
      'truncate lane_tx_item, lane_tx_attempt, lane_tx, lane, chain_cursor, treasury_log, treasury_hour, payout_signature, payout_takeover, void_proof, payout, payment_receipt',
    )
    fixture.hookCalls.settled.length = 0
    expect(await rebuild(operation(true))).toBe(0)
    expect(said).toContainEqual(expect.stringContaining('paid on chain and unknown here: 4'))
    expect((await fixture.db.query('select from payout')).rowCount).toBe(0)

    expect(await rebuild(operation())).toBe(0)
    for (const { paymentId } of queued) expect(await state(paymentId)).toBe('settled')
    expect(fixture.hookCalls.settled).toHaveLength(4)
    for (const { blockNumber, finalizedAt } of fixture.hookCalls.settled) {
      const { timestamp } = await fixture.chain.getBlock({ blockNumber: BigInt(blockNumber) })
      expect(finalizedAt).toEqual(new Date(Number(timestamp) * 1000))
    }
    expect(await rebuild(operation())).toBe(0)
    expect(said).toContainEqual(
      expect.stringContaining('payouts settled here and on chain: 4; paid on chain and open here: 0'),
    )
    expect(fixture.hookCalls.settled).toHaveLength(4)

    const [next] = await fixture.queue([{}])
    await fixture.finalize(fixture.runner(), 3)
    for (const { recipient, micro } of [...queued, next!]) expect(await fixture.balance(recipient)).toBe(micro)
  })

  test('an operator voids a release to a wallet that cannot be paid, and its reserves are held back again', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.finalize(fixture.runner())
    const release = await plantRelease(queued!, { day: '2026-11-21', micro: '60000' })
    const released = 'update payment set reserved_micro = 0, reserve_released_micro = 60000 where id = $1'
    await plant(fixture.db, released, [queued!.paymentId])
    const before = await fixture.balance(queued!.recipient)
    expect(await change('stop', release)).toBe(0)
    expect(await change('void', release)).toBe(0)
    await fixture.finalize(fixture.runner())
    expect(await state(release)).toBe('voided')
    expect(await change('resume', release)).toBe(0)
    expect(await change('resume', release)).toBe(1)
    expect(await fixture.balance(queued!.recipient)).toBe(before)
    const { rows } = await fixture.db.query(
      'select reserve_released_micro::int as released, (select count(*)::int from reserve_release_part where payment_id = id) as parts from payment where id = $1',
      [queued!.paymentId],
    )
    expect(rows).toEqual([{ released: 0, parts: 0 }])
  })

  test('a rebuild lists the releases of reserves that are paid here, and those that the database lacks', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.finalize(fixture.runner())
    const day = '2026-11-20'
    const release = await plantRelease(queued!, { day, micro: '70000' })
    await fixture.finalize(fixture.runner())
    expect(await state(release)).toBe('settled')
    expect(await rebuild(operation(true))).toBe(0)
    const before = said.find((line) => line.startsWith('payouts settled here'))
    expect(said).toContain('releases of reserves paid on chain and unknown here: 0')

    // A backup is restored that was made before the release.
    await plant(fixture.db, `delete from treasury_log where owner_id = $1`, [release])
    await plant(fixture.db, `delete from payout_signature where owner_id = $1`, [release])
    await plant(fixture.db, `delete from payout where owner_id = $1`, [release])
    await plant(fixture.db, `delete from reserve_release_part where release_id = $1`, [release])
    await plant(fixture.db, `delete from reserve_release where id = $1`, [release])
    expect(await rebuild(operation(true))).toBe(0)
    expect(said.find((line) => line.startsWith('payouts settled here'))).not.toBe(before)
    expect(said).toContain('releases of reserves paid on chain and unknown here: 1')
    // One that was paid more than was due is named.
    await plant(fixture.db, `update payment set reserved_micro = 69999 where id = $1`, [queued!.paymentId])
    expect(await rebuild(operation(true))).toBe(1)
    expect(said).toContain(
      `WARNING: ${release} was paid 70000 to ${queued!.recipient.toLowerCase()}, and at most 69999 were due to ${queued!.recipient.toLowerCase()}`,
    )
  })

  test('a payout that is settled in the database and not paid on chain is listed', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.db.query(`update payout set state = 'settled' where payment_id = $1`, [queued!.paymentId])
    expect(await rebuild(operation(true))).toBe(1)
    expect(said).toContainEqual(`WARNING: ${queued!.paymentId} is settled here and not paid on chain`)
  })

  test('a payout that went to another wallet than the payment names is listed', async () => {
    const [named, paid] = await fixture.queue([{}, {}])
    await fixture.finalize(fixture.runner())
    // As if the records had been changed since.
    await fixture.db.query('alter table payment disable trigger user')
    await fixture.db.query('update payment set destination = $2 where id = $1', [named!.paymentId, paid!.recipient])
    await fixture.db.query('alter table payment enable trigger user')
    expect(await rebuild(operation(true))).toBe(1)
    expect(said).toContainEqual(
      `WARNING: ${named!.paymentId} was paid ${named!.micro} to ${named!.recipient.toLowerCase()}, owed about ${named!.micro} to ${paid!.recipient.toLowerCase()}`,
    )
  })
})

/** `npm run test:long` repairs more kinds of reversals. */
describe('The repair of finality', () => {
  beforeAll(() => fixture.reset())
  const { state, paused, reorganize, settle } = createReversals(fixture)

  test('a payout whose final block was replaced is paid again on the new chain, once, and the others do not change', async () => {
    const older = await settle()
    await fixture.chain.mine({ blocks: 10 })
    const { queued, depth } = await settle()
    await reorganize(depth)
    expect(await fixture.balance(queued.recipient)).toBe(0n)
    await fixture.chain.mine({ blocks: 3 })
    const runner = fixture.runner()
    await runner.tick()
    expect(await paused()).toMatch(/^finalized block/)
    await expect(runner.assertReady()).rejects.toThrow('repair-finality')

    expect(await repairFinality(operation(true))).toBe(1)
    expect(said.join('\n')).toMatch(/^1 of \d+ blocks that contain proofs have left the chain/)
    expect(await state(queued)).toBe('settled')

    expect(await repairFinality(operation())).toBe(0)
    expect(said).toContainEqual(expect.stringContaining(queued.paymentId))
    expect(await paused()).toBeNull()
    expect(await state(queued)).toBe('queued')
    expect(await state(older.queued)).toBe('settled')
    await runner.assertReady()
    await fixture.finalize(runner, 3)
    for (const paid of [queued, older.queued]) {
      expect(await state(paid)).toBe('settled')
      expect(await fixture.balance(paid.recipient)).toBe(paid.micro)
    }
    // The lane continues: no nonce is missing.
    const next = await settle()
    expect(await fixture.balance(next.queued.recipient)).toBe(next.queued.micro)
    expect(await repairFinality(operation())).toBe(0)
    expect(said).toContainEqual(expect.stringContaining('is unchanged'))
  })
})

describe('The status of settlement', () => {
  /** `pinrail settlement status`: the first line says if money is moving, and if not, why. */
  let node: HostileNode
  beforeAll(async () => {
    await fixture.reset()
    node = await startHostileNode(fixture.anvil.url)
    // As the payments' part does it.
    fixture.hooks.onSettled = async (tx, settlements: readonly Settlement[]) =>
      void (await tx.query(`update payment set succeeded_at = now() where id = any($1)`, [
        settlements.map(({ ownerId }) => ownerId),
      ]))
  })
  afterAll(() => node?.close())
  // Each case makes its own trouble.
  afterEach(async () => {
    node.behave = () => 'honest'
    await fixture.db.query(`update chain_cursor set paused_reason = null, scanned_at = now()`)
    await fixture.db.query(`update lane set status = 'open', status_reason = null`)
    await fixture.db.query(`update payout set created_at = now() where state not in ('settled', 'voided')`)
    await fixture.finalize(fixture.runner(), 3)
  })

  type Trouble = { kind: string; stops: boolean; todo: string }
  type Json = { text: string; moving: string; troubles: Trouble[]; settled: { count: number } }

  async function status(
    urls = [fixture.anvil.url],
  ): Promise<{ code: number; first: string; page: string; json: Json }> {
    const given = new Map<string, unknown>()
    const code = await showStatus({
      ...operation(),
      settings: {
        ...createSettings(fixture),
        POLYGON_RPC_URLS: urls.map((url) => new Secret(url)),
        FINALITY_QUORUM: Math.floor(urls.length / 2) + 1,
      },
      give: (name, value) => void given.set(name, value),
    })
    return { code, first: said[0] ?? '', page: said.join('\n'), json: given.get('settlement') as Json }
  }
  const kinds = ({ json }: { json: Json }): string[] => json.troubles.map(({ kind }) => kind)

  test('the status before a worker has read the chain says so, and to start one', async () => {
    const found = await status()
    expect(found.first).toBe('Nothing waits to be paid, but look at this: no worker has read the chain yet.')
    expect(found.code).toBe(1)
    expect(found.page).toContain('Start a worker')
  })

  test('the status says that there is nothing to do when every payout has ended', async () => {
    const [queued] = await fixture.queue([{ micro: 7_000_000n }])
    await fixture.finalize(fixture.runner(), 3)
    const found = await status()
    expect([found.first, found.code]).toEqual([
      expect.stringMatching(/^Nothing to do: every payout has ended, the last one \d+ s ago\.$/),
      0,
    ])
    expect(found.json).toMatchObject({ text: found.first, moving: 'nothing_to_do', troubles: [] })
    expect(found.page).not.toContain('What to do')
    expect(found.page).not.toContain(queued!.paymentId)
  })

  test('the status counts settled payouts and those on their way when all is well', async () => {
    await fixture.queue([{ micro: 2_000_000n }])
    const found = await status()
    expect(found.first).toBe('Money is moving: 1 settled in the last ten minutes, 1 payout of 2.000000 USDC open.')
    expect([found.code, found.json.moving]).toEqual([0, 'yes'])
    expect(found.page).toMatch(/ {2}queued {2}1 payout {2}2\.000000 USDC/)
    expect(found.page).toMatch(/ {2}treasury 0x[0-9a-f]{40} {2}[\d.]+ USDC/)
    expect(found.page).toMatch(/ {2}lane 0x[0-9a-f]{40} {2}open {2}[\d.]+ POL/)
    expect(found.page).toMatch(/read to final block \d+ 0x[0-9a-f]{64}, \d+ s ago/)
  })

  test('the status gives the reason of a pause, and what to do', async () => {
    await fixture.queue([{}])
    await fixture.db.query(`update chain_cursor set paused_reason = 'finalized block 7 was 0xaa and is 0xbb now'`)
    const replaced = await status()
    expect(replaced.first).toBe(
      'No money is moving: signing and sending are paused, because finalized block 7 was 0xaa and is 0xbb now.',
    )
    expect([replaced.code, replaced.json.moving]).toEqual([1, 'no'])
    expect(replaced.page).toContain('pinrail settlement repair-finality --dry-run')
    await fixture.db.query(`update chain_cursor set paused_reason = 'somebody sent 5'`)
    expect((await status()).page).toContain('pinrail settlement acknowledge <tx hash>')
  })

  test('the status distinguishes a worker that cannot read from one that does not run, and from nodes that do not agree', async () => {
    await fixture.queue([{}])
    await fixture.chain.mine({ blocks: 3 })
    await fixture.db.query('delete from settlement_part')
    await fixture.db.query(`update chain_cursor set scanned_at = now() - interval '20 minutes', lease_until = now()`)
    const stuck = await status()
    expect(stuck.first).toMatch(/^No money is moving: the chain was read to block \d+ 20 min ago, and no further\.$/)
    expect([stuck.code, kinds(stuck)]).toEqual([1, ['cursor_stuck']])
    await fixture.db.query(`update chain_cursor set lease_until = now() - interval '10 minutes'`)
    const stopped = await status()
    expect(stopped.first).toMatch(/^No money is moving: no worker is running: the chain was read/)
    expect(stopped.page).toContain('Start a worker')
    node.behave = () => ({ status: 503, text: 'down' })
    const silent = await status([node.url])
    expect(silent.first).toMatch(
      /^No money is moving: fewer than 1 of 1 nodes agree on a final block: no answer from rpc1/,
    )
    for (const secret of node.secrets) expect(silent.page).not.toContain(secret)
  })

  test('the status names one node of three that does not answer, while money moves', async () => {
    await fixture.queue([{}])
    const [first, second] = await Promise.all([
      startHostileNode(fixture.anvil.url),
      startHostileNode(fixture.anvil.url),
    ])
    try {
      node.behave = () => ({ status: 503, text: 'down' })
      const found = await status([first.url, second.url, node.url])
      expect(found.first).toMatch(/^Money is moving \(.* open\), but no answer from rpc3/)
      expect([found.code, kinds(found)]).toEqual([1, ['node']])
    } finally {
      await Promise.all([first.close(), second.close()])
    }
  })

  test('the status says that the only quarantined lane stops all, and one of two does not', async () => {
    await fixture.queue([{}])
    await fixture.db.query(`update lane set status = 'quarantined', status_reason = 'nonces 3 were used by strangers'`)
    const alone = await status()
    expect(alone.first).toMatch(
      /^No money is moving: lane 0x[0-9a-f]{40} is quarantined: nonces 3 were used by strangers\.$/,
    )
    expect(alone.page).toContain('pinrail settlement reopen 0x')
    await fixture.db.query(`insert into lane (chain_id, wallet, next_nonce, led_at)
    values (31337, '0x${'9'.repeat(40)}', 0, now())`)
    const two = await status()
    await fixture.db.query(`delete from lane where wallet = '0x${'9'.repeat(40)}'`)
    expect(two.first).toMatch(/^Money is moving \(.*\), but lane 0x[0-9a-f]{40} is quarantined/)
    expect([two.code, two.json.moving, kinds(two)]).toEqual([1, 'partly', ['lane_quarantined']])
  })

  test('the status lists an abandoned lane until no worker has had its key for ten minutes', async () => {
    const [wallet, other] = [`0x${'8'.repeat(40)}`, `0x${'9'.repeat(40)}`]
    await fixture.db.query(`insert into lane (chain_id, wallet, next_nonce, status, status_reason, led_at)
    values (31337, '${wallet}', 0, 'quarantined', '${ABANDONED}', now() - interval '9 minutes'), (31337, '${other}', 0, 'open', null, now())`)
    const before = await status()
    await fixture.db.query(`update lane set led_at = now() - interval '11 minutes' where wallet = '${wallet}'`)
    const after = await status()
    await fixture.db.query(`delete from lane where wallet in ('${wallet}', '${other}')`)
    expect(before.page).toContain('Remove its key from RELAYER_KEYS')
    expect(before.page).toContain(`WARNING: lane ${wallet}`)
    expect(after.page).not.toContain(wallet)
  })

  test('the status says where to send POL when the engine stops a lane without gas money', async () => {
    const { address } = fixture.relayers[0]!
    await fixture.chain.setBalance({ address, value: 1n })
    await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    const found = await status()
    await fixture.chain.setBalance({ address, value: 10n ** 21n })
    expect(found.first).toMatch(
      /^No money is moving: lane 0x[0-9a-f]{40} has too little gas money \(1 wei, \d+ needed\)\.$/,
    )
    expect(found.page).toContain(`Send POL to ${address.toLowerCase()}`)
    expect([found.code, kinds(found)]).toEqual([1, ['no_gas']])
  })

  test('the status says what a treasury has, what is missing, and which wallet it is', async () => {
    const [queued] = await fixture.queue([{ micro: 10n ** 12n - 1n }])
    fixture.clock.now = new Date(Date.now() + 1000)
    const runner = fixture.runner()
    await runner.tick()
    await runner.tick()
    expect((await fixture.payout(queued!.paymentId)).stopReason).toBe('funds')
    const found = await status()
    expect(found.first).toMatch(
      /^No money is moving: the treasury has 999\d+\.\d{6} USDC, and payouts of 999999\.999999 USDC wait for it\.$/,
    )
    expect(found.page).toMatch(
      new RegExp(`Send at least [\\d.]+ USDC to the treasury ${fixture.treasury.address}`, 'i'),
    )
    expect([found.code, kinds(found)]).toEqual([1, ['treasury_low']])
    await fixture.queue([{}])
    expect((await status()).json.moving).toBe('partly')
    await fixture.db.query(`delete from payout where payment_id = $1`, [queued!.paymentId])
  })

  /** Its state after a quarter of an hour, for the list of payments. */
  const waitsWith = async (paymentId: string, status: string, reason: string | null) => {
    const reviews = reason === null ? [] : [{ reason, attemptId: null, text: 'it is stopped' }]
    const set = `update payment set status = $2, reviews = $3, review_since = case when $4 then now() end,
      updated_at = now() - interval '20 minutes' where id = $1`
    await fixture.db.query(set, [paymentId, status, JSON.stringify(reviews), reason !== null])
    const listed = await listAttention(fixture.db, 10)
    await fixture.db.query(`update payment set status = 'failed', reviews = '[]', review_since = null where id = $1`, [
      paymentId,
    ])
    return listed.filter((entry) => entry.paymentId === paymentId)
  }

  test('the status and the list name the limit for a payout that can never be signed, and not the treasury that has less', async () => {
    const [queued, other] = await fixture.queue([{ micro: 10n ** 12n + 1n }, { micro: 1_000_000n }])
    const id = queued!.paymentId
    await fixture.finalize(fixture.runner(), 3)
    expect((await fixture.payout(other!.paymentId)).state).toBe('settled')
    const why =
      'a payout must be more than nothing and at most 1000000.000000 USDC (PAYOUT_MAX_USDC), and this one is 1000000.000001 USDC'
    const found = await status()
    expect(found.first).toBe(
      `No other payout waits to be paid (${found.json.settled.count} settled in the last ten minutes), but look at this: 1 payout of 1000000.000001 USDC is stopped (policy) until an operator decides (${id}: ${why}).`,
    )
    expect([found.code, kinds(found)]).toEqual([1, ['payout_stopped']])
    expect(await waitsWith(id, 'under_review', 'payout_stopped')).toMatchObject([
      { kind: 'review', detail: `payout_stopped: it is stopped (policy: ${why})` },
    ])
    await fixture.db.query(`delete from payout where payment_id = $1`, [id])
  })

  test('the status and the list name a payout in a token that no worker pays, which stops no other', async () => {
    const [paid] = await fixture.queue([{}])
    const paymentId = 'pay_unserved'
    await insertPayments(fixture.db, [{ paymentId, recipient: newAddress() }])
    const token = newAddress()
    await fixture.db.transaction((tx) =>
      queuePayout(tx, {
        paymentId,
        livemode: false,
        chainId: 1,
        token,
        treasury: newAddress(),
        recipient: newAddress(),
        microUsdc: '5',
      }),
    )
    await fixture.finalize(fixture.runner(), 3)
    expect((await fixture.payout(paid!.paymentId)).state).toBe('settled')
    const found = await status()
    expect(found.first).toBe(
      `Nothing waits to be paid, but look at this: payouts of another chain or token wait, which no worker pays (${token}: chain 1, open payouts: 1).`,
    )
    expect([found.code, kinds(found)]).toEqual([1, ['unserved']])
    expect(await waitsWith(paymentId, 'settling', null)).toMatchObject([
      { kind: 'settlement_overdue', detail: `no worker pays in ${token} on chain 1` },
    ])
    // Without any worker that is the trouble, and not the token.
    await fixture.db.query(`update chain_cursor set lease_until = now() - interval '11 minutes'`)
    expect(kinds(await status())).not.toContain('unserved')
    await fixture.db.query(`delete from payout where payment_id = $1`, [paymentId])
  })

  describe('Nine incidents', () => {
    /** Removes all of the case before: the state for a new worker is written at once. */
    beforeEach(() => fixture.db.query('delete from settlement_part'))
    const since = (minutes: number) =>
      fixture.db.query(
        `update settlement_part set failing_since = now() - $1 * interval '1 minute'
        where failing_since is not null`,
        [minutes],
      )
    const admin = (functionName: 'blacklist' | 'unBlacklist' | 'pause' | 'unpause', args: readonly Hex[] = []) =>
      asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: args as never }))
    /** A worker reads again after a minute. */
    const aMinuteLater = () => {
      fixture.clock.now = new Date(fixture.clock.now.getTime() + 61_000)
    }
    const states = async (queued: readonly { paymentId: string }[]) =>
      Promise.all(queued.map(async ({ paymentId }) => (await fixture.payout(paymentId)).state))

    test('the page names the daily limit when it is reached, and asks for no USDC', async () => {
      await fixture.db.query('truncate treasury_hour')
      const queued = await fixture.queue([{ micro: 4_000_000n }, { micro: 4_000_000n }])
      fixture.clock.now = new Date(Date.now() + 120_000)
      await fixture.finalize(fixture.runner({ options: { maxMicroPerDay: 5_000_000n } }), 3)
      expect((await fixture.payout(queued[1]!.paymentId)).stopReason).toBe('limit')
      const found = await status()
      expect(found.first).toBe(
        'No money is moving: the treasury has signed as much as it may in 24 hours (PAYOUT_MAX_USDC_PER_DAY), and 1 payout of 4.000000 USDC waits.',
      )
      expect(found.page).not.toContain('USDC to the treasury')
      expect([found.code, kinds(found)]).toEqual([1, ['daily_limit']])
      await fixture.finalize(fixture.runner(), 3)
      expect(await states(queued)).toEqual(['settled', 'settled'])
    })

    test.each([
      ['the USDC contract is paused', 'token_paused', () => admin('pause'), () => admin('unpause')],
      [
        'the treasury is on the blacklist',
        'treasury_blacklisted',
        () => admin('blacklist', [fixture.treasury.address]),
        () => admin('unBlacklist', [fixture.treasury.address]),
      ],
      [
        'the treasury carries a delegation',
        'treasury_delegated',
        () => fixture.chain.setCode({ address: fixture.treasury.address, bytecode: `0xef0100${'11'.repeat(20)}` }),
        () => fixture.chain.setCode({ address: fixture.treasury.address, bytecode: '0x' }),
      ],
    ] as const)(
      'the page shows an incident, no payout is stopped, and all continue automatically: %s',
      async (_case, kind, begin, end) => {
        await begin()
        const queued = await fixture.queue(Array.from({ length: 60 }, () => ({})))
        fixture.hookCalls.stopped.length = 0
        const runner = fixture.runner()
        await fixture.finalize(runner, 3)
        const found = await status()
        await end()
        expect(new Set(await states(queued))).toEqual(
          new Set([kind === 'treasury_delegated' ? 'authorized' : 'queued']),
        )
        expect(fixture.hookCalls.stopped).toEqual([])
        expect(found.first).toMatch(
          /^No money is moving: payouts have waited for \d+ s: the (USDC contract|treasury 0x)/,
        )
        expect([found.code, kinds(found)]).toEqual([1, [kind]])
        aMinuteLater()
        await fixture.finalize(runner, 3)
        expect(new Set(await states(queued))).toEqual(new Set(['settled']))
      },
    )

    test('the page names signing, its failure and the setting when the key service is down', async () => {
      const [queued] = await fixture.queue([{}])
      const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
      const signer = createTreasurySigner(fixture.treasury, policy)
      const down = () => Promise.reject(new Error('KMS: AccessDeniedException'))
      const treasuries = [{ ...signer, signTransfer: down }]
      await expect(fixture.runner({ treasuries }).tick()).rejects.toThrow('KMS')
      await since(5)
      const found = await status()
      expect(found.first).toBe('No money is moving: signing has failed for 5 min: KMS: AccessDeniedException.')
      expect(found.page).toContain('Make the key service of the treasury answer (TREASURY_KEY)')
      expect([found.code, kinds(found)]).toEqual([1, ['part_fails']])
      await fixture.finalize(fixture.runner(), 3)
      expect(await states([queued!])).toEqual(['settled'])
    })

    test('the page has the words of each node that refuses, and no key', async () => {
      await fixture.queue([{}])
      const words = 'Batch of more than 3 requests are not allowed on free tier'
      node.behave = () => ({ status: 400, text: words })
      const found = await status([node.url])
      expect(found.first).toMatch(new RegExp(`^No money is moving: fewer than 1 of 1 nodes agree .* rpc1 .*${words}`))
      expect(found.page).toContain(
        'Read what the nodes answer: rpc2 is the second address in POLYGON_RPC_URLS. If they refuse (a key, a plan, requests in batches)',
      )
      for (const secret of node.secrets) expect(found.page).not.toContain(secret)
      expect([found.code, kinds(found)]).toEqual([1, ['no_quorum']])
    })

    test('the page says why a worker cannot start when its nodes refuse, instead of asking for a worker', async () => {
      await fixture.queue([{}])
      const { rpc, stop } = {
        rpc: connectRpc({ urls: [node.url], quorum: 1, chainId: TOKEN.chainId }),
        stop: new AbortController(),
      }
      node.behave = () => ({ status: 400, text: 'no batches' })
      const running = fixture
        .runner({
          rpc,
          everyMs: 10,
          warn: (_about, message) => void (message.includes('cannot start') && stop.abort()),
        })
        .run(stop.signal)
      await running
      await fixture.chain.mine({ blocks: 3 })
      node.behave = () => 'honest'
      await fixture.db.query(`update chain_cursor set scanned_at = now() - interval '20 minutes',
        lease_until = now() - interval '20 minutes'`)
      const found = await status()
      expect(found.first).toMatch(
        /^No money is moving: the chain was read to block \d+ 20 min ago, and no further: 0 nodes answer, .* rpc1 .*no batches/,
      )
      expect(found.page).not.toContain('no worker is running')
    })

    test('the page says which wallet needs USDC when the treasury is empty', async () => {
      const queued = await fixture.queue([{ micro: 10n ** 12n - 1n }])
      fixture.clock.now = new Date(Date.now() + 120_000)
      await fixture.finalize(fixture.runner(), 1)
      const found = await status()
      await fixture.db.query(`delete from payout where payment_id = $1`, [queued[0]!.paymentId])
      expect(found.first).toMatch(
        /^No money is moving: the treasury has [\d.]+ USDC, and payouts of 999999\.999999 USDC wait/,
      )
      expect(found.page).toMatch(
        new RegExp(`Send at least [\\d.]+ USDC to the treasury ${fixture.treasury.address}`, 'i'),
      )
      expect([found.code, kinds(found)]).toEqual([1, ['treasury_low']])
    })

    test('the page names both prices when gas costs more than the cap, and the log has them once', async () => {
      const queued = await fixture.queue([{}])
      const lines: string[] = []
      const runner = fixture.runner({ warn: (_about, message) => void lines.push(message) })
      for (let round = 0; round < 5; round++) {
        await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 1500n * GWEI })
        await fixture.chain.mine({ blocks: 1 })
        await runner.tick()
      }
      const found = await status()
      await fixture.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 30n * GWEI })
      await fixture.chain.mine({ blocks: 1 })
      expect(found.first).toMatch(
        /^No money is moving: payouts have waited for \d+ s: gas costs at least 1\d{3} gwei now, and MAX_FEE_GWEI allows 500\.$/,
      )
      expect(found.page).toContain('raise MAX_FEE_GWEI and restart the workers')
      expect([found.code, kinds(found)]).toEqual([1, ['gas_above_cap']])
      expect(lines.filter((line) => line.startsWith('gas costs'))).toHaveLength(1)
      await fixture.finalize(runner, 3)
      expect(await states(queued)).toEqual(['settled'])
    })

    test('the page names the relayer’s wallet that somebody else uses, and what to do if the key is stolen', async () => {
      await fixture.queue([{}])
      await fixture.finalize(fixture.runner(), 3)
      const [relayer] = fixture.relayers
      const nonce = await fixture.chain.getTransactionCount({ address: relayer!.address })
      const raw = await relayer!.signTransaction({
        type: 'eip1559',
        chainId: TOKEN.chainId,
        nonce,
        to: newAddress(),
        value: 1n,
        gas: 21_000n,
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      })
      await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
      await fixture.queue([{}])
      await fixture.finalize(fixture.runner(), 3)
      const found = await status()
      const wallet = relayer!.address.toLowerCase()
      expect(found.first).toMatch(
        new RegExp(`^No money is moving: lane ${wallet} is quarantined: nonce ${nonce} was used`),
      )
      expect(found.page).toContain(
        `the key is stolen: it moves no USDC, only the lane’s gas money. Run \`pinrail settlement abandon-lane ${wallet}\``,
      )
      expect([found.code, kinds(found)]).toEqual([1, ['lane_quarantined']])
    })

    test('the page says that no worker and no node is the reason when the chain finalizes nothing', async () => {
      await fixture.queue([{}])
      await fixture.runner().tick()
      // Its newest worker gave up the lease, as a worker without progress does.
      await fixture.db.query(`update chain_cursor set scanned_at = now() - interval '20 minutes', owner = null,
        lease_until = '-infinity'`)
      const found = await status()
      expect(found.first).toMatch(
        /^No money is moving: the chain has finalized no block for 20 min: the last one is \d+, its newest block is \d+\.$/,
      )
      expect(found.page).toContain('which no restart of workers and no other node changes')
      expect([found.code, kinds(found)]).toEqual([1, ['not_final']])
    })

    test('the page has the reason of the pause when USDC is stolen from the treasury, and says that the key is stolen', async () => {
      await fixture.queue([{}])
      const hash = await stealUsdc(fixture)
      await fixture.chain.mine({ blocks: 3 })
      await fixture.runner().tick()
      const found = await status()
      expect(found.first).toMatch(/^No money is moving: signing and sending are paused, because /)
      expect(found.page).toContain('the key is stolen: rotate the treasury without the old key, move the USDC')
      expect([found.code, kinds(found)[0]]).toEqual([1, 'paused'])
      await fixture.db.query(`update treasury_log set known_as = 'operator' where tx_hash = $1`, [hash])
    })
  })

  test('the page lists a hook that fails, and a payout that waits for no known reason', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.db.query(`update payout set hook_error = 'no such row' where payment_id = $1`, [queued!.paymentId])
    const failing = await status()
    expect(failing.first).toContain('but 1 fact of the chain could not be recorded')
    expect(failing.page).toContain('no such row')
    await fixture.db.query(
      `update payout set hook_error = null, created_at = now() - interval '11 minutes' where payment_id = $1`,
      [queued!.paymentId],
    )
    await fixture.db.query(`update payment set succeeded_at = now() - interval '1 hour' where succeeded_at is not null`)
    const unknown = await status()
    expect(unknown.first).toMatch(
      /^No money is moving: the oldest payout has waited for 11 min and nothing has settled since/,
    )
    expect([unknown.code, kinds(unknown)]).toEqual([1, ['unexplained']])
  })
})
