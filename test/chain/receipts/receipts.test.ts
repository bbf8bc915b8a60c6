import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { listSettlementAttention } from '../../../src/db/settlement/observer/standing.ts'
import { createReceiptSigner } from '../../../src/settlement/receipts/sign.ts'
import { startLossyProxy } from '../../support/anvil.ts'
import { createFixture, type Fixture, type Queued } from '../fixture.ts'
import {
  carryBehindItsNonce,
  createIssuer,
  crowd,
  proveOn,
  readKeys,
  readPaymentReceipt,
  signedPayout,
  type Trusted,
  verifyStored,
} from './receipted.ts'

let fixture: Fixture
let queued: Queued[]
beforeAll(async () => {
  fixture = await createFixture({ relayers: 2 })
  queued = await fixture.queue(Array.from({ length: 150 }, () => ({})))
  const runner = fixture.runner()
  await runner.tick()
  // One block with the batches of two lanes, and 137 transactions of others.
  await crowd(fixture, 137)
  await fixture.finalize(runner, 3)
}, 120_000)
afterAll(() => fixture?.stop())

const check = ({ paymentId }: Queued, trusted: Trusted = {}) => verifyStored(fixture, paymentId, trusted)

test('payments of a block of batches and strangers get receipts that verify against the chain’s own hash', async () => {
  expect(await readPaymentReceipt(fixture, queued[0]!.paymentId)).toBeNull()
  expect(await createIssuer(fixture)()).toBe(queued.length)
  const [one] = queued
  const { claims, proof } = (await readPaymentReceipt(fixture, one!.paymentId))!
  const block = await fixture.chain.getBlock({ blockNumber: BigInt(claims.block_number) })
  expect(block.transactions.length).toBeGreaterThan(130)
  expect(block.hash).toBe(claims.block_hash)
  expect(proof.nodes.length).toBeGreaterThan(1)
  const sample = queued.filter((_each, index) => index % 15 === 0)
  for (const each of sample) {
    const { verdict, checks, claims: said } = await check(each, { blockHash: block.hash })
    // Everything except the network: this is not Polygon.
    expect(checks.filter(({ result }) => result !== 'holds').map(({ check: name }) => name)).toEqual(['network'])
    expect(verdict).toBe('open')
    expect(said['net_usdc']).toBe(`${(Number(each.micro) / 1e6).toFixed(6)}`)
    expect(said['destination']).toBe(each.recipient)
  }
}, 120_000)

test('the time of a payout is that of its block, as in its signed receipt, although it is read a day later', async () => {
  const [late] = await fixture.queue([{}])
  const runner = fixture.runner()
  await runner.tick()
  await fixture.chain.mine({ blocks: 5 })
  fixture.clock.now = new Date(Date.now() + 24 * 3_600_000)
  await runner.tick()
  fixture.clock.now = new Date()
  await createIssuer(fixture)()
  for (const { paymentId } of [late!, queued[0]!]) {
    const { finalizedAt } = (await fixture.payout(paymentId)).proof!
    expect(finalizedAt.toISOString()).toBe((await readPaymentReceipt(fixture, paymentId))!.claims.block_time)
  }
})

test('every transaction of the block, of whatever type, has a proof that leads to the block’s root', async () => {
  const { claims } = (await readPaymentReceipt(fixture, queued[0]!.paymentId))!
  const block = await fixture.chain.getBlock({ blockNumber: BigInt(claims.block_number) })
  const hashes = new Set(block.transactions)
  const proofs = await proveOn(fixture, { number: claims.block_number, hash: claims.block_hash }, { hashes })
  expect(proofs.map(({ txHash }) => txHash)).toEqual(block.transactions)
  expect(new Set(proofs.map(({ nodes }) => nodes.at(-1))).size).toBe(block.transactions.length)
})

// Payments of such a block never had a receipt.
test('a block whose receipts are too large for one answer has the same proofs: they are read one by one', async () => {
  const { claims } = (await readPaymentReceipt(fixture, queued[0]!.paymentId))!
  const { transactions } = await fixture.chain.getBlock({ blockNumber: BigInt(claims.block_number) })
  const node = await startLossyProxy(fixture.anvil.url)
  try {
    node.decide = ({ method }) =>
      method === 'eth_getBlockReceipts'
        ? { rewrite: (receipts) => [...(receipts as object[]), 'x'.repeat(11 * 1024 * 1024)] }
        : 'deliver'
    const block = { number: claims.block_number, hash: claims.block_hash }
    const hashes = new Set(transactions)
    expect(await proveOn(fixture, block, { hashes, url: node.url })).toEqual(await proveOn(fixture, block, { hashes }))
    const asked = node.calls.filter(({ method }) => method === 'eth_getTransactionReceipt')
    expect(asked).toHaveLength(transactions.length)
    expect(new Set(asked.map(({ params }) => params[0]))).toEqual(hashes)
  } finally {
    await node.close()
  }
})

test('a node without eth_getBlockReceipts proves the same by single receipts', async () => {
  const { claims } = (await readPaymentReceipt(fixture, queued[0]!.paymentId))!
  const block = { number: claims.block_number, hash: claims.block_hash }
  const hashes = new Set((await fixture.chain.getBlock({ blockNumber: BigInt(block.number) })).transactions)
  const node = await startLossyProxy(fixture.anvil.url)
  const message = 'the method eth_getBlockReceipts does not exist/is not available'
  node.decide = ({ method }) => (method === 'eth_getBlockReceipts' ? { error: { code: -32601, message } } : 'deliver')
  try {
    expect(await proveOn(fixture, block, { hashes, url: node.url })).toEqual(await proveOn(fixture, block, { hashes }))
  } finally {
    await node.close()
  }
})

test('receipts that are not proved within an hour are one entry of the attention list', async () => {
  const [late] = await fixture.queue([{}, {}])
  await fixture.finalize(fixture.runner(), 3)
  const listed = async () => (await listSettlementAttention(fixture.db)).filter(({ kind }) => kind === 'receipt')
  expect(await listed()).toEqual([])
  await fixture.db.query(
    `update treasury_log set finalized_at = now() - interval '61 minutes' where receipt_due_at is not null`,
  )
  await fixture.db.query(`update treasury_log set finalized_at = now() - interval '2 hours' where owner_id = $1`, [
    late!.paymentId,
  ])
  expect(await listed()).toEqual([
    { kind: 'receipt', subject: late!.paymentId, detail: '2 receipts are not proved, this one for the longest time' },
  ])
  await createIssuer(fixture)()
  expect(await listed()).toEqual([])
})

test('a second round issues nothing again, and stored receipts do not change', async () => {
  const before = await readPaymentReceipt(fixture, queued[0]!.paymentId)
  expect(await createIssuer(fixture)()).toBe(0)
  await fixture.db.query(`update treasury_log set receipt_due_at = now() - interval '1 minute'`)
  await createIssuer(fixture, { clock: () => Date.now() + 5000 })()
  expect(await readPaymentReceipt(fixture, queued[0]!.paymentId)).toEqual(before)
})

test('a node that gives a false receipt or none is no source: the next one is asked, and without one nothing is issued', async () => {
  const [late] = await fixture.queue([{}])
  await fixture.finalize(fixture.runner(), 3)
  const liar = await startLossyProxy(fixture.anvil.url)
  const warned: object[] = []
  const issue = createIssuer(fixture, { urls: [liar.url], log: { warn: (about) => void warned.push(about) } })
  const due = () => fixture.db.query(`update treasury_log set receipt_due_at = now() where receipt_due_at is not null`)
  type Receipts = { logs: { data: string }[] }[]
  const lies: ((result: unknown) => unknown)[] = [
    () => null,
    () => [],
    (result) => (result as Receipts).map((receipt) => ({ ...receipt, logsBloom: `0x${'00'.repeat(256)}` })),
    (result) => (result as Receipts).slice(1),
    (result) => (result as Receipts).map((receipt) => ({ ...receipt, logs: receipt.logs.slice(1) })),
  ]
  for (const rewrite of lies) {
    liar.decide = ({ method }) => (method === 'eth_getBlockReceipts' ? { rewrite } : 'deliver')
    await due()
    expect(await issue()).toBe(0)
    expect(await readPaymentReceipt(fixture, late!.paymentId)).toBeNull()
  }
  expect(warned).toHaveLength(lies.length)
  liar.decide = ({ method }) =>
    method === 'eth_getBlockByNumber' ? { rewrite: (block) => ({ ...(block as object), gasUsed: '0x1' }) } : 'deliver'
  await due()
  expect(await issue()).toBe(0)
  // Tried again later, not at once.
  liar.decide = () => 'deliver'
  expect(await issue()).toBe(0)
  liar.decide = ({ method }) => (method === 'eth_getBlockReceipts' ? { rewrite: () => [] } : 'deliver')
  await due()
  expect(await createIssuer(fixture, { urls: [liar.url, fixture.anvil.url] })()).toBe(1)
  await liar.close()
  expect((await check(late!)).checks.filter(({ result }) => result === 'fails')).toEqual([])
}, 60_000)

test('a new key signs from its first receipt on; receipts of the earlier one stay valid', async () => {
  const [next] = await fixture.queue([{}])
  await fixture.finalize(fixture.runner(), 3)
  expect(await createIssuer(fixture, { signer: createReceiptSigner(Buffer.alloc(32, 77).toString('base64')) })()).toBe(
    1,
  )
  const keys = await readKeys(fixture)
  expect(keys).toHaveLength(2)
  for (const each of [queued[0]!, next!])
    expect((await check(each)).checks.find(({ check: name }) => name === 'signature')?.result).toBe('holds')
  const only = await check(next!, { keys: keys.slice(1) })
  expect(only.verdict).toBe('wrong')
  expect(only.checks.find(({ result }) => result === 'fails')?.says).toMatch('is not among those given')
})

// Its receipt had the stranger's logs, and failed every verification for good.
test('a stranger who uses the nonce of a payout just before carrying it does not change its receipt', async () => {
  const [queued] = await fixture.queue([{}])
  await carryBehindItsNonce(fixture, await signedPayout(fixture, queued!.paymentId))
  await fixture.finalize(fixture.runner(), 3)
  expect(await createIssuer(fixture)()).toBe(1)
  expect((await check(queued!)).checks.filter(({ result }) => result === 'fails')).toEqual([])
})
