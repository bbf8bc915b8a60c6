import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { encodeAbiParameters, encodeErrorResult, encodeFunctionResult, multicall3Abi, parseAbi } from 'viem'
import { multicallCodec } from '../../../src/chain/codec.ts'
import type { RpcNode } from '../../../src/chain/rpc/node.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { resultsOf, revertReason, wordsOf } from '../../../src/chain/token/results.ts'
import { readToken } from '../../../src/chain/token/token-state.ts'
import { word } from '../../../src/chain/token/words.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { createWorld, TOKEN, type World } from '../world.ts'

/** What a node may answer for Multicall3: nothing that it invents is more work than its bytes. */

let world: World
beforeAll(async () => void (world = await createWorld()))
afterAll(() => world.stop())
const nodes = useHostileNodes(() => world.anvil.url)

type Item = { readonly success: boolean; readonly returnData: Hex }

const encode = (items: readonly Item[]): Hex =>
  encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: [...items] })
const six: Item = { success: true, returnData: `0x${word(6)}` }

/** Results that all are the same bytes. */
const shared = (count: number, bytes: number): Hex =>
  `0x${word(32)}${word(count)}${word(count * 32).repeat(count)}${word(1)}${word(64)}${word(bytes)}${'00'.repeat(bytes)}`

describe('results that share their bytes', () => {
  // a worker copied four megabytes forty times, byte by byte, and ran out of memory
  test('are a wrong answer of that node, and the other nodes decide', async () => {
    const bomb = shared(1, 4 * 1024 * 1024)
    nodes[0]!.behave = ({ method }) => (method === 'eth_call' ? { lie: () => bomb } : 'honest')
    const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 20_000 })
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

  test.each([2, 40])('%s of them are refused before anything is copied, however small', (count) => {
    expect(() => resultsOf(shared(count, 32), count)).toThrow(`not the results of ${count} calls`)
    expect(() => multicallCodec.decodeSimulation(shared(count, 1000), count)).toThrow(`not the results of ${count}`)
  })
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
  expect(() => resultsOf(answer, 2)).toThrow()
})

test.each([1, 2, 3, 100, 400])('%s results of any lengths are read as they are', (count) => {
  const items = Array.from(
    { length: count },
    (_item, index): Item => ({
      success: index % 3 !== 0,
      returnData: `0x${'5a'.repeat((index * 7) % 100)}`,
    }),
  )
  expect(resultsOf(encode(items), count)).toEqual(items)
})

test.each<[string, Item]>([
  ['fails', { ...six, success: false }],
  ['gives nothing', { success: true, returnData: '0x' }],
  ['gives two words', { success: true, returnData: `0x${word(6)}${word(6)}` }],
])('a read of the token that %s is no number', (_what, item) => {
  expect(wordsOf(encode([six, six]), 2)).toEqual([6n, 6n])
  expect(() => wordsOf(encode([six, item]), 2)).toThrow('does not answer as USDC does')
})

test('of a long result a kilobyte is kept', () => {
  const long: Item = { success: false, returnData: `0x${'41'.repeat(5000)}` }
  const [kept, next] = resultsOf(encode([long, six]), 2)
  expect(kept).toEqual({ success: false, returnData: `0x${'41'.repeat(1024)}` })
  expect(next).toEqual(six)
})

describe('why an item would be refused', () => {
  const errorOf = (text: string): Hex =>
    encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] })
  const raw = (data: Hex): string => `reverted with ${data.slice(0, 74)}`
  const shortError: Hex = '0x08c379a0'
  const farAway: Hex = `0x08c379a0${word(2n ** 255n)}${word(4)}${word(0x41414141)}`
  const custom: Hex = `0xdeadbeef${encodeAbiParameters([{ type: 'uint256' }], [9n]).slice(2)}`

  test.each<[Hex, string]>([
    ['0x', 'reverted without a reason'],
    [errorOf('FiatTokenV2: invalid signature'), 'FiatTokenV2: invalid signature'],
    [errorOf('é'.repeat(40)), 'é'.repeat(40)],
    [`0x4e487b71${word(0x11)}`, 'panic 17'],
    ['0x4e487b71', raw('0x4e487b71')],
    [shortError, raw(shortError)],
    [farAway, raw(farAway)],
    [`0x08c379a0${word(0x20)}${word(2n ** 255n)}4142`, 'AB'],
    [custom, raw(custom)],
    ['0x01', raw('0x01')],
  ])('%s is told', (returnData, reason) => {
    expect(revertReason(returnData)).toBe(reason)
    expect(multicallCodec.decodeSimulation(encode([six, { success: false, returnData }]), 2)).toEqual([null, reason])
  })

  test('a text of many pages is told in part', () => {
    const answer = encode([{ success: false, returnData: errorOf('a'.repeat(100_000)) }])
    expect(multicallCodec.decodeSimulation(answer, 1)[0]).toBe('a'.repeat(1024 - 68))
  })
})
