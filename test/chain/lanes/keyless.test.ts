import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { abandonLane } from '../../../src/db/settlement/operator.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { showStatus } from '../../../src/operator/status.ts'
import { createWorld, settingsOf, TOKEN, type World } from '../world.ts'

/** What a lane has on the way when its key is replaced by another one. */

let world: World
let removed: LocalAccount
let other: LocalAccount
beforeEach(async () => {
  world = await createWorld({ relayers: 2 })
  ;[removed, other] = world.relayers as [LocalAccount, LocalAccount]
})
afterEach(() => world.stop())

const walletOf = ({ address }: LocalAccount): Hex => address.toLowerCase() as Hex

/** Each round is one of a worker that has just started: it looks at once at what others have left. */
async function goOn(): Promise<void> {
  for (let round = 0; round < 3; round++) await world.finalize(world.runner({ relayers: [other] }), 1)
}

/** Of the envelopes, in the order of their nonces. */
async function envelopes(): Promise<{ state: string; block: bigint | null }[]> {
  const { rows } = await world.db.query('select state, block_number from lane_tx where wallet = $1 order by nonce', [
    walletOf(removed),
  ])
  return (rows as { state: string; block_number: string | null }[]).map(({ state, block_number: block }) => ({
    state,
    block: block === null ? null : BigInt(block),
  }))
}

const blockOf = async (hash: Hex): Promise<bigint> => (await world.chain.getTransactionReceipt({ hash })).blockNumber

/** As if the key had been gone for so long. */
const pass = (interval: string): Promise<unknown> =>
  world.db.query(
    `with e as (update lane_tx set created_at = created_at - '${interval}'::interval where wallet = $1)
     update lane set lease_until = lease_until - '${interval}'::interval where wallet = $1`,
    [walletOf(removed)],
  )

/** What it answers, and its lines about the lane; a quarantine stays on the attention list until somebody reopens it. */
async function status(): Promise<{ code: number; about: string[] }> {
  const said: string[] = []
  const say = (line: string): void => void said.push(line)
  const code = await showStatus({ db: world.db, hooks: world.hooks, settings: settingsOf(world), dryRun: false, say })
  return { code, about: said.filter((line) => line.includes(walletOf(removed)) && !line.startsWith('LOOK')) }
}

const QUIET = { code: 0, about: [] }

const gasOf = async (hash: Hex): Promise<bigint> => {
  const { gasUsed, effectiveGasPrice } = await world.chain.getTransactionReceipt({ hash })
  return gasUsed * effectiveGasPrice
}

test.each([{ abandoned: false }, { abandoned: true }])(
  'is mined afterwards (abandoned: $abandoned): its gas is booked once, its envelope ends, and status is quiet',
  async ({ abandoned }) => {
    const [queued] = await world.queue([{}])
    await world.runner({ relayers: [removed] }).tick()
    const lane = { chainId: TOKEN.chainId, wallet: walletOf(removed) }
    if (abandoned) await world.db.transaction((tx) => abandonLane(tx, lane))
    await world.chain.mine({ blocks: 4 })
    await goOn()
    const { state, txHash } = await world.payout(queued!.paymentId)
    expect(state).toBe('settled')
    expect(world.heard.settled.map(({ gasWei }) => gasWei)).toEqual([await gasOf(txHash!)])
    await pass('3 days')
    await goOn()
    expect(await envelopes()).toEqual([{ state: 'finalized', block: await blockOf(txHash!) }])
    expect(world.heard.gas).toEqual([])
    expect(await status()).toEqual(QUIET)
  },
)

test('is never mined: another lane carries its payouts, and status is quiet though the envelope stays open', async () => {
  const [queued] = await world.queue([{}])
  await world.runner({ relayers: [removed] }).tick()
  await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
  await pass('3 days')
  // While it carries something it is told.
  expect((await status()).code).toBe(1)
  await goOn()
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect(await envelopes()).toEqual([{ state: 'broadcast', block: null }])
  expect(await status()).toEqual(QUIET)
  // Its bytes are still valid.
  const { rows } = await world.db.query(
    `select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt where wallet = $1`,
    [walletOf(removed)],
  )
  const hash = await world.chain.sendRawTransaction({ serializedTransaction: rows[0].raw })
  await world.chain.mine({ blocks: 4 })
  await goOn()
  expect(await envelopes()).toEqual([{ state: 'finalized', block: await blockOf(hash) }])
  expect(world.heard.gas.map(({ wei }) => wei)).toEqual([await gasOf(hash)])
  await goOn()
  expect(world.heard.gas).toHaveLength(1)
})

test('loses its nonce to a transfer by whoever has the key: the envelope ends, and the key is not trusted when it comes back', async () => {
  const [queued] = await world.queue([{}])
  await world.runner({ relayers: [removed] }).tick()
  await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
  await pass('1 hour')
  const raw = await removed.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    to: other.address,
    value: 1n,
    gas: 100_000n,
    nonce: 0,
    data: '0x01',
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  await world.chain.sendRawTransaction({ serializedTransaction: raw })
  await world.chain.mine({ blocks: 4 })
  await goOn()
  expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  expect(await envelopes()).toEqual([{ state: 'foreign', block: null }])
  expect(await status()).toEqual(QUIET)
  await world.runner().tick()
  const { rows } = await world.db.query('select status from lane where wallet = $1', [walletOf(removed)])
  expect(rows).toEqual([{ status: 'quarantined' }])
})

test('of a lane whose key is here nothing is taken, however long nobody has advanced it', async () => {
  await world.queue([{}])
  await world.runner({ relayers: [removed] }).tick()
  await pass('1 hour')
  const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
  const journal = createSettlementJournal({ db: world.db, scope, hooks: world.hooks })
  expect(await journal.takeKeyless({ idleMs: 30_000, keyed: [walletOf(removed)] })).toEqual([])
  expect(await journal.takeKeyless({ idleMs: 30_000, keyed: [] })).toHaveLength(1)
})
