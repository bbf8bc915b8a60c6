import { describe, expect, test } from '@jest/globals'
import { encodeAbiParameters, encodeErrorResult, encodeFunctionResult, multicall3Abi, parseAbi, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import type { RpcNode } from '../../../src/chain/rpc/node.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { decodeResults, decodeWords, revertReason } from '../../../src/chain/token/results.ts'
import { readToken } from '../../../src/chain/token/token-state.ts'
import { word } from '../../../src/chain/token/words.ts'
import { sql } from '../../../src/db/db.ts'
import { pause } from '../../../src/db/settlement/observer/pause.ts'
import { requestVoid, resumePayout, stopPayout } from '../../../src/db/settlement/payouts.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import type { SignedPayout } from '../../../src/domain/settlement/payout.ts'
import { asUsdcOwner, mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { startLossyProxy } from '../../support/anvil.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { newAddress, newKey, type Queued, TOKEN, useFixture } from '../fixture.ts'

describe('the token', () => {
  const fixture = useFixture({ micro: 10_000_000_000n, relayers: 1 })

  type AdminCall = 'pause' | 'unpause' | 'blacklist' | 'unBlacklist'
  const admin = (functionName: AdminCall, args: readonly Hex[] = []) =>
    asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: args as never }))

  const state = async ({ paymentId }: Queued) => {
    const { state, stopReason } = await fixture.payout(paymentId)
    return stopReason === null ? state : `${state}(${stopReason})`
  }

  /** The payout as the treasury has signed it: public in the engine’s call data. */
  async function signedPayout({ paymentId }: Queued): Promise<SignedPayout> {
    const [payout] = await readSigned(fixture.db, sql`p.payment_id = ${paymentId}`, 1)
    if (payout === undefined) throw new Error(`${paymentId} is not signed`)
    return payout
  }

  /** Somebody else carries an authorization to the chain. */
  async function carry(payouts: readonly SignedPayout[], gas = 500_000n): Promise<Hex> {
    const stranger = privateKeyToAccount(newKey())
    await fixture.chain.setBalance({ address: stranger.address, value: parseEther('10') })
    const { target, calldata } = multicallCodec.encode(TOKEN.address, payouts)
    const raw = await stranger.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      nonce: 0,
      to: target,
      data: calldata,
      gas,
      maxFeePerGas: 2_000_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000_000n,
    })
    return fixture.chain.sendRawTransaction({ serializedTransaction: raw })
  }

  test('a blacklisted recipient is stopped and does not keep the others from being paid', async () => {
    const bad = newAddress()
    await admin('blacklist', [bad])
    const queued = await fixture.queue([{}, { recipient: bad }, {}])
    const runner = fixture.runner()
    await fixture.finalize(runner)
    expect(await Promise.all(queued.map(state))).toEqual(['settled', 'stopped(blacklisted)', 'settled'])
    expect(fixture.hookCalls.stopped).toContainEqual(
      expect.objectContaining({ ownerId: queued[1]!.paymentId, reason: 'blacklisted' }),
    )
  })

  test('a recipient blacklisted after the signature is left out of the batch', async () => {
    const bad = newAddress()
    const queued = await fixture.queue([{}, { recipient: bad }, {}])
    // Nothing is sent while no slot is free; the signatures are made.
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    expect(await Promise.all(queued.map(state))).toEqual(['authorized', 'authorized', 'authorized'])
    await admin('blacklist', [bad])
    await fixture.finalize(fixture.runner())
    expect(await Promise.all(queued.map(state))).toEqual(['settled', 'stopped(blacklisted)', 'settled'])
  })

  test('while USDC is paused payouts wait in their state; afterwards they continue within a minute', async () => {
    await admin('pause')
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.assertReady()
    await runner.tick()
    expect(await state(queued[0]!)).toBe('queued')
    await admin('unpause')
    fixture.clock.now = new Date(fixture.clock.now.getTime() + 60_000)
    await fixture.finalize(runner)
    expect(await state(queued[0]!)).toBe('settled')
    expect(fixture.hookCalls.stopped.map(({ ownerId }) => ownerId)).not.toContain(queued[0]!.paymentId)
  })

  test('a payout that the treasury cannot cover waits; smaller ones of other merchants are paid in the meantime', async () => {
    const big = newAddress()
    const treasury = await fixture.balance(fixture.treasury.address)
    const queued = await fixture.queue([{ recipient: big, micro: treasury + 1n }, { recipient: big }, {}, {}])
    const runner = fixture.runner()
    fixture.clock.now = new Date(fixture.clock.now.getTime() + 1000)
    await fixture.finalize(runner)
    expect(await Promise.all(queued.map(state))).toEqual(['stopped(funds)', 'stopped(funds)', 'settled', 'settled'])
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 20_000_000n })
    await fixture.finalize(runner, 3)
    expect(await Promise.all(queued.map(state))).toEqual(['settled', 'settled', 'settled', 'settled'])
    expect(await fixture.balance(big)).toBe(treasury + 1n + queued[1]!.micro)
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 1_000_000_000n })
  })

  test('top-ups of the treasury are reported once, with their amount', async () => {
    const runner = fixture.runner()
    await fixture.finalize(runner)
    await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 777n })
    await fixture.finalize(runner)
    await fixture.finalize(fixture.runner())
    expect(fixture.hookCalls.movements.filter(({ micro }) => micro === '777')).toEqual([
      expect.objectContaining({ direction: 'in', treasury: fixture.treasury.address.toLowerCase() }),
    ])
  })

  test('a relayer without gas money waits, and fails no payout', async () => {
    const relayer = fixture.relayers[0]!.address
    await fixture.chain.setBalance({ address: relayer, value: 1n })
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await fixture.finalize(runner)
    expect(await state(queued[0]!)).toBe('authorized')
    const { rows } = await fixture.db.query('select status from lane')
    expect(rows).toEqual([{ status: 'paused_gas' }])
    await fixture.chain.setBalance({ address: relayer, value: parseEther('1000') })
    await fixture.finalize(runner)
    expect(await state(queued[0]!)).toBe('settled')
  })

  test('an authorization that somebody else carried first is recognized as settled by its log', async () => {
    const queued = await fixture.queue([{}, {}])
    const runner = fixture.runner()
    await runner.tick()
    const hash = await carry([await signedPayout(queued[0]!)])
    await fixture.finalize(runner)
    expect(await Promise.all(queued.map(state))).toEqual(['settled', 'settled'])
    const first = await fixture.payout(queued[0]!.paymentId)
    expect(first.txHash).toBe(hash)
    // The gas of that sender, not the platform’s.
    expect(first.proof?.gasWei).toBeNull()
    expect((await fixture.payout(queued[1]!.paymentId)).proof?.gasWei).toBeGreaterThan(0n)
    for (const { recipient, micro } of queued) expect(await fixture.balance(recipient)).toBe(micro)
  })

  test('a canceled authorization is used on chain, and is no success: the payout is voided', async () => {
    const queued = await fixture.queue([{}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    const signed = await signedPayout(queued[0]!)
    const signer = createTreasurySigner(fixture.treasury, {
      livemode: false,
      token: TOKEN,
      maxMicroPerPayout: 10n ** 12n,
    })
    await carry([{ ...signed, signed: await signer.signCancellation(signed) }])
    await fixture.finalize(fixture.runner())
    expect(await state(queued[0]!)).toBe('voided')
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    expect(fixture.hookCalls.settled.map(({ ownerId }) => ownerId)).not.toContain(queued[0]!.paymentId)
    expect(fixture.hookCalls.voided.map(({ ownerId }) => ownerId)).toContain(queued[0]!.paymentId)
  })

  test('a payout is voided by a cancellation on chain, also one that was never signed', async () => {
    const queued = await fixture.queue([{}, {}])
    await fixture.db.transaction((tx) => requestVoid(tx, queued[0]!.paymentId))
    const runner = fixture.runner()
    await runner.tick()
    expect(await state(queued[0]!)).toBe('voiding')
    await fixture.finalize(runner)
    expect(await Promise.all(queued.map(state))).toEqual(['voided', 'settled'])
    const { proof } = await fixture.payout(queued[0]!.paymentId)
    expect(proof?.blockNumber).toBeGreaterThan(0)
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    // Both were in one transaction, and each is assigned its half of the gas.
    const ends = [...fixture.hookCalls.settled, ...fixture.hookCalls.voided].filter(
      (one) => 'txHash' in one && one.txHash === proof?.txHash,
    )
    const { gasUsed, effectiveGasPrice } = await fixture.chain.getTransactionReceipt({ hash: proof!.txHash })
    expect(ends.map((one) => ('gasWei' in one ? one.gasWei : null))).toEqual([
      (gasUsed * effectiveGasPrice) / 2n,
      (gasUsed * effectiveGasPrice) / 2n,
    ])
  })

  test('a payout that was on chain before it was signed, and then removed, is signed and paid once', async () => {
    const [queued] = await fixture.queue([{}])
    const waiting = fixture.runner({ options: { maxInFlight: 0 } })
    await waiting.tick()
    const signed = await signedPayout(queued!)
    // As after a restore to the time before it was signed, while its transaction is on its way.
    await fixture.db.query('delete from payout_signature where owner_id = $1', [queued!.paymentId])
    await fixture.db.query(`update payout set state = 'queued' where payment_id = $1`, [queued!.paymentId])
    await carry([signed])
    await fixture.chain.mine({ blocks: 1 })
    await waiting.tick()
    // The nonce is used, so that it waits.
    expect(await state(queued!)).toBe('queued')
    await fixture.chain.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await fixture.finalize(fixture.runner(), 3)
    expect(await state(queued!)).toBe('settled')
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
  })

  test('a transfer that is already on its way can win over a void; then it is settled', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    await fixture.db.transaction((tx) => requestVoid(tx, queued[0]!.paymentId))
    await fixture.finalize(runner)
    expect(await state(queued[0]!)).toBe('settled')
  })

  test('an authorization that expired in the pool is signed again with the same nonce, and paid once', async () => {
    const queued = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    const before = await signedPayout(queued[0]!)
    await fixture.chain.increaseTime({ seconds: 46 * 60 })
    await fixture.finalize(runner, 4)
    const after = await signedPayout(queued[0]!)
    expect(after.authNonce).toBe(before.authNonce)
    expect(after.signed.validBefore).toBeGreaterThan(before.signed.validBefore!)
    expect(await state(queued[0]!)).toBe('settled')
    expect(await fixture.balance(queued[0]!.recipient)).toBe(queued[0]!.micro)
  })

  test('the gas limit follows the formula: an estimator’s proposal for a batch would pay nobody', async () => {
    const queued = await fixture.queue([{}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    const signed = await signedPayout(queued[0]!)
    const { target, calldata } = multicallCodec.encode(TOKEN.address, [signed])
    const estimate = await fixture.chain.estimateGas({ account: newAddress(), to: target, data: calldata })
    await carry([signed], estimate)
    await fixture.chain.mine({ blocks: 1 })
    expect(await fixture.balance(queued[0]!.recipient)).toBe(0n)
    expect(estimate).toBeLessThan(multicallCodec.gasLimit(1))
    await fixture.finalize(fixture.runner())
    expect(await fixture.balance(queued[0]!.recipient)).toBe(queued[0]!.micro)
  })
})

describe('the token while a batch is on its way', () => {
  /** The token or an operator refuses while transactions are already on their way. */

  const fixture = useFixture({ relayers: 1 })

  type AdminCall = 'pause' | 'unpause' | 'blacklist' | 'unBlacklist'
  const admin = (functionName: AdminCall, args: readonly Hex[] = []) =>
    asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: args as never }))

  const state = async ({ paymentId }: Queued) => {
    const { state: now, stopReason } = await fixture.payout(paymentId)
    return stopReason === null ? now : `${now}(${stopReason})`
  }
  const states = (queued: readonly Queued[]) => Promise.all(queued.map(state))
  const refusals = async ({ paymentId }: Queued): Promise<number> =>
    (await fixture.db.query('select refusals from payout where payment_id = $1', [paymentId])).rows[0].refusals

  /** Makes an engine check again if token and treasury can pay. */
  const aMinuteLater = () => {
    fixture.clock.now = new Date(fixture.clock.now.getTime() + 60_000)
  }
  /** Empties the pool; the engine has the transactions stored, and sends them again. */
  const dropPool = () => fixture.chain.request({ method: 'anvil_dropAllTransactions' } as never)
  const paidOnce = async (queued: readonly Queued[]) => {
    for (const { recipient, micro } of queued) expect(await fixture.balance(recipient)).toBe(micro)
  }

  test('USDC is paused while a batch is on its way: the token refuses it, it waits, and it is paid once afterwards', async () => {
    const queued = await fixture.queue([{}, {}])
    const runner = fixture.runner()
    await runner.tick()
    expect(await states(queued)).toEqual(['broadcast', 'broadcast'])
    await dropPool()
    await admin('pause')
    await fixture.finalize(runner)
    expect(await states(queued)).toEqual(['authorized', 'authorized'])
    expect(await Promise.all(queued.map(refusals))).toEqual([1, 1])
    for (const { recipient } of queued) expect(await fixture.balance(recipient)).toBe(0n)
    await admin('unpause')
    aMinuteLater()
    await fixture.finalize(runner, 3)
    expect(await states(queued)).toEqual(['settled', 'settled'])
    await paidOnce(queued)
  })

  test('a recipient is blacklisted while the batch is on its way: the others of the batch are paid by it', async () => {
    const bad = newAddress()
    const queued = await fixture.queue([{}, { recipient: bad }, {}])
    const runner = fixture.runner()
    await runner.tick()
    await dropPool()
    await admin('blacklist', [bad])
    await fixture.finalize(runner)
    expect(await states(queued)).toEqual(['settled', 'stopped(blacklisted)', 'settled'])
    const [first, , third] = await Promise.all(queued.map(({ paymentId }) => fixture.payout(paymentId)))
    expect(first?.txHash).toBe(third?.txHash)
    expect(await fixture.balance(bad)).toBe(0n)
  })

  test.each([
    ['signed', { maxInFlight: 0 }],
    ['on its way', {}],
  ])(
    'the treasury is blacklisted while a batch is %s: it waits, and continues automatically afterwards',
    async (_case, options) => {
      const queued = await fixture.queue([{}, {}])
      await fixture.runner({ options }).tick()
      await dropPool()
      await admin('blacklist', [fixture.treasury.address])
      const runner = fixture.runner()
      await fixture.finalize(runner)
      expect(await states(queued)).toEqual(['authorized', 'authorized'])
      await admin('unBlacklist', [fixture.treasury.address])
      aMinuteLater()
      await fixture.finalize(runner, 3)
      expect(await states(queued)).toEqual(['settled', 'settled'])
      await paidOnce(queued)
    },
  )

  test('a payout that the token refuses three times without a known reason is stopped, until an operator releases it', async () => {
    const recipient = newAddress()
    const [queued] = await fixture.queue([{ recipient }])
    const runner = fixture.runner()
    for (const times of [1, 2, 3]) {
      await runner.tick()
      expect([times, await state(queued!)]).toEqual([times, 'broadcast'])
      await dropPool()
      // Listed only while the transaction is mined: reads before and after do not show it.
      await admin('blacklist', [recipient])
      await runner.tick()
      await fixture.chain.mine({ blocks: 1 })
      await admin('unBlacklist', [recipient])
      await fixture.chain.mine({ blocks: 3 })
      expect([times, await refusals(queued!)]).toEqual([times, times - 1])
    }
    await runner.tick()
    expect([await state(queued!), await refusals(queued!)]).toEqual(['stopped(refused)', 3])
    await fixture.finalize(runner)
    expect([await state(queued!), await fixture.balance(recipient)]).toEqual(['stopped(refused)', 0n])
    expect(fixture.hookCalls.stopped.at(-1)).toMatchObject({
      reason: 'refused',
      detail: 'the token refused it 3 times',
    })
    expect(await fixture.db.transaction((tx) => resumePayout(tx, queued!.paymentId))).toBe(true)
    await fixture.finalize(runner, 3)
    expect(await state(queued!)).toBe('settled')
    await paidOnce([queued!])
  })

  test('a payout that was sent once and failed cannot be stopped while it can be sent again, and can be afterwards', async () => {
    const [queued] = await fixture.queue([{}])
    const runner = fixture.runner()
    await runner.tick()
    await dropPool()
    await admin('pause')
    await fixture.finalize(runner)
    expect(await states([queued!])).toEqual(['authorized'])
    const hold = () => fixture.db.transaction((tx) => stopPayout(tx, queued!.paymentId, 'is it fraud?'))
    expect(await hold()).toBe(false)
    // It has expired, and the blocks of that minute are read.
    await fixture.db.query(
      `update payout_signature set valid_before = extract(epoch from now())::bigint - 61 where owner_id = $1`,
      [queued!.paymentId],
    )
    expect(await hold()).toBe(true)
    await admin('unpause')
    await fixture.finalize(runner)
    expect([await states([queued!]), await fixture.balance(queued!.recipient)]).toEqual([['stopped(operator)'], 0n])
  })

  test('the engine is paused while a batch is on its way: mined payouts settle, and nothing more is sent', async () => {
    const proxy = await startLossyProxy(fixture.anvil.url)
    const runner = fixture.runner({ url: proxy.url })
    const sent = () => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length
    try {
      const before = await fixture.queue([{}])
      await runner.tick()
      expect(await states(before)).toEqual(['broadcast'])
      await pauseEngine()
      const [sentBefore, after] = [sent(), await fixture.queue([{}])]
      await fixture.finalize(runner)
      expect(await states([...before, ...after])).toEqual(['settled', 'queued'])
      expect(sent()).toBe(sentBefore)
      await endPause()
      await fixture.finalize(runner)
      expect(await states(after)).toEqual(['settled'])
      await paidOnce([...before, ...after])
    } finally {
      await proxy.close()
    }
  })

  test('the engine is paused and the batch on its way is lost: it is not sent again before the pause ends', async () => {
    const proxy = await startLossyProxy(fixture.anvil.url)
    const runner = fixture.runner({ url: proxy.url })
    const sent = () => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length
    try {
      const queued = await fixture.queue([{}])
      await runner.tick()
      await pauseEngine()
      await dropPool()
      const sentBefore = sent()
      await fixture.finalize(runner, 4)
      expect([await states(queued), sent()]).toEqual([['broadcast'], sentBefore])
      await endPause()
      await fixture.finalize(runner)
      expect(await states(queued)).toEqual(['settled'])
      await paidOnce(queued)
    } finally {
      await proxy.close()
    }
  })

  const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
  /** As the solvency watch does when an unknown transfer leaves the treasury. */
  const pauseEngine = () => pause({ db: fixture.db, scope, hooks: fixture.hooks }, 'somebody looks into it')
  /** As it ends when an operator has acknowledged every unknown transfer. */
  const endPause = () => fixture.db.query('update chain_cursor set paused_reason = null')
})

describe('the results of Multicall3', () => {
  /** Possible answers of a node for Multicall3: nothing that it invents costs more work than its bytes. */

  const fixture = useFixture()
  const nodes = useHostileNodes(() => fixture.anvil.url)

  type Item = { readonly success: boolean; readonly returnData: Hex }

  const encode = (items: readonly Item[]): Hex =>
    encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: [...items] })
  const six: Item = { success: true, returnData: `0x${word(6)}` }

  /** Results that all are the same bytes. */
  const shared = (count: number, bytes: number): Hex =>
    `0x${word(32)}${word(count)}${word(count * 32).repeat(count)}${word(1)}${word(64)}${word(bytes)}${'00'.repeat(bytes)}`

  describe('results that share their bytes', () => {
    // A worker copied four megabytes forty times, byte by byte, and ran out of memory.
    test('results that share their bytes are a wrong answer of that node, and the other nodes decide', async () => {
      const bomb = shared(1, 4 * 1024 * 1024)
      nodes[0]!.behave = ({ method }) => (method === 'eth_call' ? { lie: () => bomb } : 'honest')
      const rpc = connectRpc({
        urls: nodes.map(({ url }) => url),
        quorum: 2,
        chainId: TOKEN.chainId,
        timeoutMs: 20_000,
      })
      const read = (node: RpcNode) => readToken(node, TOKEN.address, { reads: [{ view: 'decimals', args: [] }] })
      for (let round = 0; round < 3; round++) expect(await rpc.agreed(read)).toEqual({ value: [6n] })
      await expect(read(rpc.nodes[0]!)).rejects.toMatchObject({
        kind: 'malformed',
        answer: 'more bytes than results have',
      })
      expect(rpc.health()[0]!.wrong).toBeGreaterThan(0)
      expect(
        rpc
          .health()
          .map(({ wrong }) => wrong)
          .slice(1),
      ).toEqual([0, 0])
    })

    test.each([2, 40])(
      'results that share their bytes, %s of them, are refused before anything is copied, however small',
      (count) => {
        expect(() => decodeResults(shared(count, 32), count)).toThrow(`not the results of ${count} calls`)
        expect(() => multicallCodec.decodeSimulation(shared(count, 1000), count)).toThrow(`not the results of ${count}`)
      },
    )
  })

  test.each<[string, unknown]>([
    ['nothing', '0x'],
    ['no text', null],
    ['fewer', encode([six])],
    ['more', encode([six, six, six])],
    ['a byte more at the end', `${encode([six, six])}00`],
    ['half of them', encode([six, six]).slice(0, -64 * 5)],
    ['a length beyond the end', encode([six, six]).replaceAll(word(32), word(2n ** 255n))],
    ['a success that is neither', encode([six, six]).replaceAll(word(1), word(3))],
  ])('%s instead of two results is refused', (_what, answer) => {
    expect(() => decodeResults(answer, 2)).toThrow()
  })

  test.each([1, 2, 3, 100, 400])('results of any lengths, %s of them, are read unchanged', (count) => {
    const items = Array.from(
      { length: count },
      (_item, index): Item => ({
        success: index % 3 !== 0,
        returnData: `0x${'5a'.repeat((index * 7) % 100)}`,
      }),
    )
    expect(decodeResults(encode(items), count)).toEqual(items)
  })

  test.each<[string, Item]>([
    ['fails', { ...six, success: false }],
    ['gives nothing', { success: true, returnData: '0x' }],
    ['gives two words', { success: true, returnData: `0x${word(6)}${word(6)}` }],
  ])('a read of the token that %s is no number', (_what, item) => {
    expect(decodeWords(encode([six, six]), 2)).toEqual([6n, 6n])
    expect(() => decodeWords(encode([six, item]), 2)).toThrow('does not answer as USDC does')
  })

  test('a long result is cut to a kilobyte', () => {
    const long: Item = { success: false, returnData: `0x${'41'.repeat(5000)}` }
    const [kept, next] = decodeResults(encode([long, six]), 2)
    expect(kept).toEqual({ success: false, returnData: `0x${'41'.repeat(1024)}` })
    expect(next).toEqual(six)
  })

  describe('The reason why an item would be refused', () => {
    const encodeError = (text: string): Hex =>
      encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] })
    const raw = (data: Hex): string => `reverted with ${data.slice(0, 74)}`
    const shortError: Hex = '0x08c379a0'
    const farAway: Hex = `0x08c379a0${word(2n ** 255n)}${word(4)}${word(0x41414141)}`
    const custom: Hex = `0xdeadbeef${encodeAbiParameters([{ type: 'uint256' }], [9n]).slice(2)}`

    test.each<[Hex, string]>([
      ['0x', 'reverted without a reason'],
      [encodeError('FiatTokenV2: invalid signature'), 'FiatTokenV2: invalid signature'],
      [encodeError('é'.repeat(40)), 'é'.repeat(40)],
      [`0x4e487b71${word(0x11)}`, 'panic 17'],
      ['0x4e487b71', raw('0x4e487b71')],
      [shortError, raw(shortError)],
      [farAway, raw(farAway)],
      [`0x08c379a0${word(0x20)}${word(2n ** 255n)}4142`, 'AB'],
      [custom, raw(custom)],
      ['0x01', raw('0x01')],
    ])('the reason of a refused item is reported: %s', (returnData, reason) => {
      expect(revertReason(returnData)).toBe(reason)
      expect(multicallCodec.decodeSimulation(encode([six, { success: false, returnData }]), 2)).toEqual([null, reason])
    })

    test('a reason of many pages is cut', () => {
      const answer = encode([{ success: false, returnData: encodeError('a'.repeat(100_000)) }])
      expect(multicallCodec.decodeSimulation(answer, 1)[0]).toBe('a'.repeat(1024 - 68))
    })
  })
})
