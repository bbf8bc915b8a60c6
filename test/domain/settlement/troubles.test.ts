import { describe, expect, test } from '@jest/globals'
import { ABANDONED, describeTransfer, type TreasuryLog } from '../../../src/domain/settlement/payout.ts'
import type { Standing } from '../../../src/domain/settlement/standing.ts'
import { ageText, findTroubles } from '../../../src/domain/settlement/troubles.ts'
import { CHAIN, CURSOR, FUNDING, LANE, OPEN_LANE, part, QUEUED, stopped, TREASURY, WELL } from './well.ts'

const kinds = (fields: Partial<Standing>) =>
  findTroubles({ ...WELL, ...fields }).map(({ kind, stops }) => (stops ? `${kind}!` : kind))
const only = (fields: Partial<Standing>) => {
  const [trouble, ...others] = findTroubles({ ...WELL, ...fields })
  expect(others).toEqual([])
  return trouble
}

describe('The chain', () => {
  test('the chain is paused for an unknown transfer, a reversal of finality, or missing USDC', () => {
    const paused = (pausedReason: string) => only({ cursor: { ...CURSOR, pausedReason } })?.todo
    expect(paused('the treasuries have 7 USDC less than the books say')).toContain('acknowledge balance')
    expect(paused('unknown transfers left the treasury')).toBe(
      'Find out who sent it. If it was you, run `pinrail settlement acknowledge <tx hash>`. If it was not, the key is stolen: rotate the treasury without the old key, move the USDC to the new one, run `pinrail settlement take-over <old treasury>`, then acknowledge the theft. Each unknown_transfer in the list below needs its own `acknowledge`.',
    )
    const txHash = `0x${'5'.repeat(64)}` as const
    const log = { microUsdc: '500000000', treasury: TREASURY, counterparty: LANE, txHash }
    const named = paused(describeTransfer(log as TreasuryLog))
    expect(named).toContain(`\`pinrail settlement acknowledge ${txHash}\``)
    expect(named).toContain(`\`pinrail settlement take-over ${TREASURY}\``)
    expect(paused('finalized block 7 is another one')).toBe(
      'Stop the workers, then run `pinrail settlement repair-finality --dry-run`, which names the payouts that are to be paid again. If they are what you expect, run it without --dry-run, then start the workers.',
    )
    expect(only({ cursor: { ...CURSOR, pausedReason: 'a foreign transfer came' } })).toMatchObject({
      kind: 'paused',
      stops: true,
      what: 'signing and sending are paused, because a foreign transfer came',
    })
  })

  test('the chain is not read', () => {
    expect(only({ cursor: null })).toEqual({
      kind: 'unread',
      stops: true,
      what: 'no worker has read the chain yet',
      todo: 'Start a worker. If it does not start, its log has the reason.',
    })
  })

  test('the chain is read for payouts, and not for deposits', () => {
    const behind = (depositsBehind: number) => only({ cursor: { ...CURSOR, depositsBehind } })
    expect(behind(300)).toBeUndefined()
    expect(behind(301)).toMatchObject({
      kind: 'deposits_behind',
      stops: false,
      what: 'deposits in USDC are seen late: deposit addresses were read to block 699, payouts to 1000',
      todo: expect.stringContaining('DEPOSIT_SEED'),
    })
  })

  test('the chain is not read any more', () => {
    const stuck = (fields: object, final: number | null = 1005) =>
      findTroubles({ ...WELL, cursor: { ...CURSOR, ageSeconds: 120, ...fields }, chain: { ...CHAIN, final } })
    expect(stuck({ ageSeconds: 119.9 })).toEqual([])
    expect(stuck({ isObserved: false })).toEqual([
      {
        kind: 'no_worker',
        stops: true,
        what: 'no worker is running: the chain was read to block 1000 2 min ago, and no further',
        todo: 'Start a worker. If one is running, its log has the reason why settlement is not.',
      },
    ])
    expect(stuck({})).toEqual([
      {
        kind: 'cursor_stuck',
        stops: true,
        what: 'the chain was read to block 1000 2 min ago, and no further',
        todo: 'Read the worker’s log: it names the blocks that it could not read.',
      },
    ])
    expect(stuck({}, 1000)).toEqual([
      {
        kind: 'not_final',
        stops: true,
        what: 'the chain has finalized no block for 2 min: the last one is 1000, its newest block is 1010',
        todo: expect.stringMatching(/^Wait: the finality of the chain itself stalls, which no restart of workers/),
      },
    ])
    expect(stuck({}, null).at(-1)?.todo).toBe('Fix the nodes: the list below shows what each of them returns.')
  })

  test('the chain is not read, and a worker has reported the reason', () => {
    const parts = [part('observing', { failingSeconds: 300, failure: 'rpc1 eth_getLogs: refused' })]
    const stuck = only({ parts, cursor: { ...CURSOR, ageSeconds: 300 } })
    expect(stuck).toMatchObject({
      kind: 'cursor_stuck',
      what: 'the chain was read to block 1000 5 min ago, and no further: rpc1 eth_getLogs: refused',
    })
    expect(only({ parts, cursor: null })?.what).toBe('no worker has read the chain yet: rpc1 eth_getLogs: refused')
  })

  test('the chain has a node that does not answer, or no quorum', () => {
    const [, two, three] = CHAIN.nodes
    const silent = { name: 'one', head: null, final: null, why: 'timeout' }
    const nodes = [silent, two, three].flatMap((node) => (node === undefined ? [] : [node]))
    expect(only({ chain: { ...CHAIN, nodes } })).toEqual({
      kind: 'node',
      stops: false,
      what: 'no answer from one (timeout)',
      todo: 'A quorum is left. Bring the node back before a second one fails.',
    })
    const both = [
      silent,
      { name: 'two', head: null, final: null, why: null },
      { name: 'three', head: 5, final: 4, why: null },
    ]
    expect(only({ chain: { ...CHAIN, nodes: both, final: null } })).toEqual({
      kind: 'no_quorum',
      stops: true,
      what: 'fewer than 2 of 3 nodes agree on a final block: no answer from one (timeout), two',
      todo: expect.stringMatching(
        /^Read what the nodes answer: .* POLYGON_RPC_URLS and restart the workers\. Never lower FINALITY_QUORUM\.$/,
      ),
    })
    expect(only({ chain: { ...CHAIN, final: null } })?.what).toBe(
      'fewer than 2 of 3 nodes agree on a final block: one names 1005, two names 1005, three names 1005',
    )
  })
})

describe('The lanes', () => {
  const funding = { ...OPEN_LANE, wallet: FUNDING, isFunding: true } as const

  test('no lane was opened', () => {
    expect(only({ lanes: [] })).toEqual({
      kind: 'no_lane',
      stops: true,
      what: 'no lane has been opened yet',
      todo: 'A worker opens its lanes when it starts. If it does not, its log has the reason.',
    })
    expect(kinds({ lanes: [funding] })).toEqual(['no_lane!'])
    // No worker has started: the trouble is named once.
    expect(kinds({ lanes: [], cursor: null })).toEqual(['unread!'])
  })

  test('a quarantined lane stops everything if it is the only one', () => {
    const quarantined = { ...OPEN_LANE, status: 'quarantined' } as const
    expect(only({ lanes: [quarantined, funding] })).toEqual({
      kind: 'lane_quarantined',
      stops: true,
      what: `lane ${LANE} is quarantined: no reason is stored`,
      todo: `Find out who used its key. If it was you, run \`pinrail settlement reopen ${LANE}\`. If it was not, the key is stolen: it moves no USDC, only the lane’s gas money. Run \`pinrail settlement abandon-lane ${LANE}\`, put a new key into RELAYER_KEYS, and restart the workers.`,
    })
    expect(kinds({ lanes: [quarantined, OPEN_LANE] })).toEqual(['lane_quarantined'])
    expect(only({ lanes: [{ ...quarantined, reason: ABANDONED }, OPEN_LANE] })?.todo).toBe(
      'Remove its key from RELAYER_KEYS: ten minutes after that it is not shown any more.',
    )
  })

  test('a lane has too little gas money', () => {
    const broke = { ...OPEN_LANE, status: 'paused_gas' } as const
    expect(only({ lanes: [broke] })).toEqual({
      kind: 'no_gas',
      stops: true,
      what: `lane ${LANE} has too little gas money`,
      todo: `Send POL to ${LANE}. If GAS_FUNDING_KEY is set, check that the funding wallet has POL.`,
    })
    expect(only({ lanes: [{ ...broke, reason: '0.1 POL' }, OPEN_LANE] })).toMatchObject({
      stops: false,
      what: `lane ${LANE} has too little gas money (0.1 POL)`,
    })
    expect(findTroubles({ ...WELL, lanes: [broke, { ...funding, status: 'paused_gas' }] }).at(-1)).toMatchObject({
      stops: false,
      todo: `Send POL to ${FUNDING}: it supplies the other lanes with gas money.`,
    })
  })

  test('a transaction is in no block for five minutes', () => {
    expect(kinds({ lanes: [{ ...OPEN_LANE, unminedSeconds: 299 }] })).toEqual([])
    expect(only({ lanes: [{ ...OPEN_LANE, unminedSeconds: 300 }] })).toEqual({
      kind: 'not_mined',
      stops: false,
      what: `a transaction of lane ${LANE} has not been mined for 5 min`,
      todo: 'Check that the nodes pass transactions on: the list below shows what each of them returns. If others pay a higher tip than MAX_FEE_GWEI leaves room for, raise it and restart the workers.',
    })
    const dear = part('sending', { failingSeconds: 300, cause: 'gas_above_cap', failure: 'gas costs 900 gwei' })
    expect(kinds({ lanes: [{ ...OPEN_LANE, unminedSeconds: 300 }], parts: [dear] })).toEqual(['gas_above_cap!'])
  })
})

describe('USDC in treasuries', () => {
  const treasury = (micro: bigint | null) => ({ ...CHAIN, treasuries: [{ wallet: TREASURY, micro }] })
  const wants = (state: 'stopped' | 'queued' | 'authorized', micro = '30000000') => ({
    treasury: TREASURY,
    state,
    micro,
  })

  test('a treasury that has less than the queued payouts is named with both sums', () => {
    const wanting = [wants('queued', '20000000'), wants('authorized', '10000000')]
    expect(kinds({ chain: treasury(30_000_000n), wanting })).toEqual([])
    expect(only({ chain: treasury(29_999_999n), wanting })).toEqual({
      kind: 'treasury_low',
      stops: false,
      what: 'the treasury has 29.999999 USDC, and payouts of 30.000000 USDC wait for it',
      todo: `Send at least 0.000001 USDC to the treasury ${TREASURY}. Payouts that wait for funds continue automatically.`,
    })
  })

  // The page must not ask to send USDC to a wallet that it names as stolen or blocked.
  test('no operator is asked to send USDC to a treasury that pays nothing, is paused or blocked', () => {
    const low = { chain: treasury(0n), wanting: [wants('queued')] }
    expect(kinds({ ...low, cursor: { ...CURSOR, pausedReason: 'a foreign transfer came' } })).toEqual(['paused!'])
    const failure = `the USDC contract has blacklisted the treasury ${TREASURY}`
    const blocked = part('signing', { failingSeconds: 1, cause: 'treasury_blacklisted', failure })
    expect(kinds({ ...low, parts: [blocked] })).toEqual(['treasury_blacklisted!'])
    expect(kinds({ ...low, parts: [{ ...blocked, failure: 'another treasury' }] })).toContain('treasury_low')
  })

  test('a treasury with waiting payouts stops everything if nothing else moves', () => {
    const low = { chain: treasury(null), wanting: [wants('stopped', '10000000')] }
    expect(only({ ...low, queue: [stopped('funds')] })).toMatchObject({
      stops: true,
      what: 'the treasury has too little USDC, and payouts of 10.000000 USDC wait for it',
    })
    expect(kinds({ ...low, queue: [stopped('funds'), QUEUED] })).toEqual(['treasury_low'])
    // A payout that an operator has stopped does not move either.
    expect(kinds({ ...low, queue: [stopped('funds'), stopped('operator')] })).toEqual([
      'treasury_low!',
      'payout_stopped',
    ])
  })

  test('a treasury without a report of any node is no trouble', () => {
    expect(kinds({ chain: treasury(null), wanting: [wants('queued')] })).toEqual([])
  })

  test('the one of two treasuries that lacks USDC is named', () => {
    const other = `0x${'8'.repeat(40)}` as const
    const treasuries = [
      { wallet: TREASURY, micro: 5n },
      { wallet: other, micro: 500_000_000n },
    ]
    const wanting = [wants('queued'), { ...wants('queued'), treasury: other }]
    expect(only({ chain: { ...CHAIN, treasuries }, wanting })?.todo).toContain(`the treasury ${TREASURY}.`)
  })
})

describe('The parts of the engine', () => {
  const signing = part('signing', { failingSeconds: 60, failure: 'the key service does not answer' })
  const paused = { failingSeconds: 60, cause: 'token_paused', failure: 'the USDC contract is paused' } as const

  test('a part that fails for half a minute is named with its failure, and stops the work that waits for it', () => {
    expect(only({ parts: [signing] })).toEqual({
      kind: 'part_fails',
      stops: true,
      what: 'signing has failed for 60 s: the key service does not answer',
      todo: expect.stringMatching(/^Make the key service of the treasury answer \(TREASURY_KEY\)/),
    })
    expect(kinds({ parts: [{ ...signing, failingSeconds: 29 }] })).toEqual([])
    // Signed payouts are sent.
    expect(kinds({ parts: [signing], queue: [QUEUED, { ...QUEUED, state: 'authorized' }] })).toEqual(['part_fails'])
    expect(kinds({ parts: [part('deposits', { ...signing, part: 'deposits' })] })).toEqual(['part_fails'])
  })

  test('a failure that no worker has reported for two minutes is ignored', () => {
    expect(kinds({ parts: [{ ...signing, reportedSeconds: 120 }] })).toEqual(['part_fails!'])
    expect(kinds({ parts: [{ ...signing, reportedSeconds: 121 }] })).toEqual([])
  })

  test('nodes that do not agree are the reason why all parts fail', () => {
    expect(kinds({ parts: [signing], chain: { ...CHAIN, final: null } })).toEqual(['no_quorum!'])
    const observing = part('observing', { failingSeconds: 200, failure: 'no answer' })
    expect(kinds({ parts: [observing] })).toEqual(['part_fails!'])
    expect(kinds({ parts: [observing], cursor: { ...CURSOR, ageSeconds: 200 } })).toEqual(['cursor_stuck!'])
  })

  test('a cause for which signing and sending rest is named once and at once', () => {
    expect(only({ parts: [part('sending', paused), part('signing', { ...paused, failingSeconds: 1 })] })).toEqual({
      kind: 'token_paused',
      stops: true,
      what: 'payouts have waited for 60 s: the USDC contract is paused',
      todo: expect.stringMatching(/^Wait: Circle has paused USDC for everybody\./),
    })
    expect(kinds({ parts: [part('sending', { ...paused, failingSeconds: 0 })] })).toEqual(['token_paused!'])
  })

  test('a cause for which only one of two treasuries rests does not stop everything', () => {
    const one = { ...paused, cause: 'treasury_blacklisted', succeededSeconds: 5 } as const
    expect(kinds({ parts: [part('signing', one)] })).toEqual(['treasury_blacklisted'])
  })
})

describe('The limit of a day', () => {
  test('no operator is asked to send USDC to a treasury that has reached its limit', () => {
    expect(only({ queue: [stopped('limit', 3)] })).toEqual({
      kind: 'daily_limit',
      stops: true,
      what: 'the treasury has signed as much as it may in 24 hours (PAYOUT_MAX_USDC_PER_DAY), and 3 payouts of 10.000000 USDC wait',
      todo: expect.stringMatching(/raise PAYOUT_MAX_USDC_PER_DAY .* The treasury needs no USDC for it\.$/),
    })
    expect(kinds({ queue: [stopped('limit'), { ...QUEUED, state: 'broadcast' }] })).toEqual(['daily_limit'])
  })
})

describe('Other troubles of the record', () => {
  test('facts of the chain that could not be written are a trouble', () => {
    const fact = (kind: string, detail: string | null = null) => ({ kind, subject: 'pay_1', detail })
    expect(only({ attention: [fact('payout_hook', 'deadlock')] })).toEqual({
      kind: 'hook',
      stops: false,
      what: '1 fact of the chain could not be recorded (pay_1: deadlock)',
      todo: 'They are proved and kept, and tried again every 30 seconds. Look into the log of the worker for the reason.',
    })
    expect(only({ attention: [fact('treasury_log'), fact('deposit_log'), fact('chargeback')] })?.what).toBe(
      '2 facts of the chain could not be recorded (pay_1: no detail)',
    )
    expect(kinds({ attention: [fact('chargeback')] })).toEqual([])
  })

  test.each([
    ['release_stopped', '1 release of reserves is stopped until an operator decides', 'settlement resume'],
    ['release_voided', '1 release of reserves is void', 'settlement resume'],
    ['release_overdue', 'the reserves of 1 merchant were due two days ago and are held back', 'log of the workers'],
    ['release_differs', '1 release that the restored backup lacks is of another amount than is due', 'disputes'],
  ])('a release of reserves that waits as %s is a trouble that stops no other payout', (kind, what, todo) => {
    expect(only({ attention: [{ kind, subject: 'rel_1', detail: 'policy: too much' }] })).toEqual({
      kind: 'release',
      stops: false,
      what: `${what} (rel_1: policy: too much)`,
      todo: expect.stringContaining(todo),
    })
  })

  test('unfinished voids are a trouble', () => {
    const voided = { kind: 'void', subject: 'pay_1', detail: '5000000 micro-USDC of 0x1 are to be voided' }
    expect(only({ attention: [voided] })).toMatchObject({
      kind: 'void',
      stops: false,
      what: '1 payout has been waiting for its void for two hours (pay_1: 5000000 micro-USDC of 0x1 are to be voided)',
    })
    expect(only({ attention: [voided, { ...voided, detail: null }] })?.what).toContain(
      '2 payouts have been waiting for their void for two hours',
    )
    expect(only({ attention: [{ ...voided, detail: null }] })?.what).toContain('(pay_1: no detail)')
  })

  test('unfinished sweeps are a trouble', () => {
    const sweep = { kind: 'sweep', subject: 'pay_1', detail: '5000000 micro-USDC are to be swept from 0x1' }
    expect(only({ attention: [sweep] })).toMatchObject({
      kind: 'sweep',
      stops: false,
      what: 'deposits at 1 address have not been swept for an hour (pay_1: 5000000 micro-USDC are to be swept from 0x1)',
    })
    expect(only({ attention: [sweep, { ...sweep, detail: null }] })?.what).toContain('deposits at 2 addresses have')
    expect(only({ attention: [{ ...sweep, detail: null }] })?.what).toContain('(pay_1: no detail)')
  })

  test('payouts that wait for a key are a trouble', () => {
    const waiting = { kind: 'no_key', subject: '0x1', detail: 'open payouts: 2' }
    expect(only({ attention: [waiting] })).toMatchObject({
      kind: 'no_key',
      stops: true,
      what: 'payouts wait for the key of 1 treasury, which no worker has (0x1: open payouts: 2)',
      todo: expect.stringContaining('pinrail settlement take-over'),
    })
    // Some queued payouts have their key, or are signed already.
    const wanting = [{ treasury: TREASURY, state: 'queued', micro: '5' }] as const
    expect(kinds({ attention: [waiting], wanting })).toEqual(['no_key'])
    expect(kinds({ attention: [waiting], queue: [QUEUED, { ...QUEUED, state: 'mined' }] })).toEqual(['no_key'])
  })

  test('payouts that move to another treasury are a trouble, with the action if they do not', () => {
    const takeOver = { from: TREASURY, to: LANE, count: 2, sinceSeconds: 720 }
    expect(only({ takeOvers: [takeOver] })).toEqual({
      kind: 'take_over',
      stops: true,
      what: `2 payouts move from the treasury ${TREASURY} to ${LANE}, which takes over`,
      todo: 'Nothing: within 55 minutes of the take-over (12 min ago) or of a restore, no signature of the old key is valid any more. Then the payouts move.',
    })
    expect(kinds({ takeOvers: [{ ...takeOver, count: 1 }] })).toEqual(['take_over'])
    expect(only({ takeOvers: [{ ...takeOver, sinceSeconds: 7200 }] })?.todo).toContain('waits for its log')
  })

  test('payouts of suspended merchants are named with the command that continues them, and stop nothing', () => {
    expect(only({ queue: [stopped('merchant', 2), QUEUED] })).toMatchObject({
      stops: false,
      what: '2 payouts of 10.000000 USDC are stopped because their merchants are suspended with their payouts',
      todo: expect.stringContaining('`pinrail merchants resume <merchant>`'),
    })
  })

  test('stopped payouts are a trouble', () => {
    expect(only({ queue: [stopped('review', 3), QUEUED] })).toEqual({
      kind: 'payout_stopped',
      stops: false,
      what: '3 payouts of 10.000000 USDC are stopped (review) until an operator decides',
      todo: 'Look with `pinrail payments explain <payment>`, then decide `settle`, or `give_back`, which voids the payout first. `pinrail attention` names all of them. When the cause has ended, `pinrail payments retry-stopped review` tries all of them again.',
    })
    expect(only({ queue: [stopped(null)] })?.what).toContain('is stopped (no reason)')
    const attention = [{ kind: 'payout_stopped', subject: 'pay_1', detail: 'policy: it is too large' }]
    expect(only({ queue: [stopped('policy')], attention })).toMatchObject({
      stops: false,
      what: expect.stringMatching(/until an operator decides \(pay_1: it is too large\)$/),
      todo: expect.stringMatching(/^Look with `pinrail payments explain pay_1`, /),
    })
    expect(only({ queue: [stopped('review')], attention })?.what).toMatch(/until an operator decides$/)
  })
})

test.each([
  [0.4, '0 s'],
  [119, '119 s'],
  [120, '2 min'],
  [7199, '120 min'],
  [7200, '2 h'],
  [172_799, '48 h'],
  [172_800, '2 days'],
])('%d seconds are shown as %s', (seconds, text) => {
  expect(ageText(seconds)).toBe(text)
})

describe('The float', () => {
  const FLOAT: NonNullable<Standing['float']> = {
    freeMicro: '1000000000',
    reserveMicro: '1000000000',
    waiting: { count: 0, micro: '0', oldestSeconds: 0 },
    exposures: [],
    refills: [],
    results: [],
  }
  const REFILL = {
    id: 'rfl_1',
    partner: 'bridge',
    money: { minor: '850000', currency: 'EUR' },
    word: 'payment_submitted',
    instructions: null,
    seconds: 3 * 86_400 - 1,
  } as const

  test('a float at its reserve is no trouble, and without a float there is none', () => {
    expect([kinds({ float: FLOAT }), kinds({ float: null })]).toEqual([[], []])
  })

  test('a float below its reserve says how much is missing, and stops no payout', () => {
    const waiting = { count: 3, micro: '250000000', oldestSeconds: 600 }
    expect(only({ float: { ...FLOAT, freeMicro: '999000000', waiting } })).toEqual({
      kind: 'float_low',
      stops: false,
      what: 'the float is 999.000000 USDC, and its reserve 1000.000000: 3 conversions of 250.000000 USDC wait',
      todo: 'Send at least 251.000000 USDC to the treasury, or hasten the refills below. Conversions continue within a minute, without an operator.',
    })
  })

  test('a conversion that is larger than what the float has above its reserve is a trouble', () => {
    const waiting = { count: 1, micro: '5000000', oldestSeconds: 600 }
    expect(only({ float: { ...FLOAT, freeMicro: '1004000000', waiting } })).toMatchObject({
      kind: 'float_low',
      todo: expect.stringContaining('Send at least 1.000000 USDC to the treasury'),
    })
    expect(kinds({ float: { ...FLOAT, freeMicro: '1005000000', waiting } })).toEqual([])
  })

  test('a refill that waits for its money says where to send it', () => {
    const refills = [{ ...REFILL, word: 'awaiting_funds', instructions: 'iban: IE1', seconds: 60 }]
    expect(only({ float: { ...FLOAT, refills } })).toMatchObject({
      what: 'the refill rfl_1 of 8500.00 EUR waits for its money since 60 s',
      todo: 'Send what partners have settled of it to bridge in one transfer, unless somebody has: iban: IE1. What is missing counts as spread.',
    })
  })

  test('a refill on its way is no trouble for three days', () => {
    expect(kinds({ float: { ...FLOAT, refills: [REFILL] } })).toEqual([])
    expect(only({ float: { ...FLOAT, refills: [{ ...REFILL, seconds: 3 * 86_400 }] } })?.todo).toContain(
      '`pinrail settlement end-refill rfl_1`',
    )
  })
})
