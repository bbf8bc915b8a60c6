import { describe, expect, test } from '@jest/globals'
import { ABANDONED, describeTransfer, type TreasuryLog } from '../../../src/domain/settlement/payout.ts'
import type { Standing } from '../../../src/domain/settlement/standing.ts'
import { ageText, findTroubles } from '../../../src/domain/settlement/troubles.ts'
import { CHAIN, CURSOR, FUNDING, LANE, OPEN_LANE, part, QUEUED, stopped, TREASURY, WELL } from './well.ts'

const kinds = (fields: Partial<Standing>) =>
  findTroubles({ ...WELL, ...fields }).map(({ kind, stops }) => `${kind}${stops ? '!' : ''}`)
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
    expect(stuck?.todo).toBe('Correct that: the worker tries again every few seconds.')
    expect(only({ parts, cursor: null })).toMatchObject({
      what: 'no worker has read the chain yet: rpc1 eth_getLogs: refused',
      todo: expect.stringContaining('POLYGON_RPC_URLS: correct that'),
    })
  })

  test('only the failure of observing explains why the chain is not read', () => {
    const parts = [part('signing', { failingSeconds: 1, failure: 'the key service does not answer' })]
    expect(only({ parts, cursor: null })?.what).toBe('no worker has read the chain yet')
  })

  test('the newest block of any node is named while the chain finalizes none', () => {
    const cursor = { ...CURSOR, ageSeconds: 120 }
    const what = (heads: readonly (number | null)[]) => {
      const nodes = heads.map((head, at) => ({ name: `${at}`, head, final: 1000, why: null }))
      return findTroubles({ ...WELL, cursor, chain: { ...CHAIN, nodes, final: 1000 } }).at(-1)?.what
    }
    expect(what([1010, 1012, 1011])).toContain(', its newest block is 1012')
    expect(what([null, null])).toBe('the chain has finalized no block for 2 min: the last one is 1000')
  })

  test('a treasury that is not compared with the books for ten minutes is a trouble', () => {
    const compared = (comparedSeconds: number, ageSeconds = 3) =>
      findTroubles({ ...WELL, cursor: { ...CURSOR, comparedSeconds, ageSeconds } })
    expect(compared(599)).toStrictEqual([])
    expect(compared(600)).toStrictEqual([
      {
        kind: 'uncompared',
        stops: false,
        what: 'the treasury has not been compared with the books for 10 min, so a theft may be unseen',
        todo: 'The nodes do not give the state of the last final block. Name nodes in POLYGON_RPC_URLS that keep it for 128 blocks.',
      },
    ])
    // A chain that is not read is the reason.
    expect(compared(600, 119).map(({ kind }) => kind)).toEqual(['uncompared'])
    expect(compared(600, 120).map(({ kind }) => kind)).toEqual(['cursor_stuck'])
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
    const unsure = CHAIN.nodes.map((node, at) => (at === 0 ? { ...node, final: null } : node))
    expect(only({ chain: { ...CHAIN, nodes: unsure, final: null } })?.what).toBe(
      'fewer than 2 of 3 nodes agree on a final block: two names 1005, three names 1005',
    )
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
    // Neither an old report nor another cause explains it.
    for (const fields of [{ reportedSeconds: 121 }, { cause: 'token_paused' as const }])
      expect(kinds({ lanes: [{ ...OPEN_LANE, unminedSeconds: 300 }], parts: [{ ...dear, ...fields }] })).toContain(
        'not_mined',
      )
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

  test('a treasury whose payouts were stopped for funds is asked for none if it has enough by now', () => {
    const has = { chain: treasury(30_000_000n), wanting: [wants('stopped', '20000000'), wants('queued', '10000000')] }
    expect(only(has)).toMatchObject({
      what: 'the treasury has 30.000000 USDC, and payouts of 30.000000 USDC wait for it',
      todo: `Send USDC to the treasury ${TREASURY}. Payouts that wait for funds continue automatically.`,
    })
    expect(kinds({ ...has, chain: { ...CHAIN, treasuries: [] }, wanting: [wants('queued')] })).toEqual([])
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
    const low = only({ chain: { ...CHAIN, treasuries }, wanting })
    expect(low?.todo).toContain(`the treasury ${TREASURY}.`)
    expect(low?.what).toContain('payouts of 30.000000 USDC wait for it')
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

  test.each([
    ['observing', 'queued authorized assigned broadcast mined stopped voiding'],
    ['signing', 'queued stopped'],
    ['sending', 'queued authorized assigned broadcast stopped'],
    ['deposits', ''],
  ] as const)('a failure of %s stops the payouts that are %s', (name, states) => {
    const failing = part(name, { failingSeconds: 60, failure: 'refused' })
    const stops = (state: string) =>
      findTroubles({ ...WELL, parts: [failing], queue: [{ ...QUEUED, state }] }).some(
        (trouble) => trouble.kind === 'part_fails' && trouble.stops,
      )
    const all = ['queued', 'authorized', 'assigned', 'broadcast', 'mined', 'stopped', 'voiding']
    expect(all.filter(stops).join(' ')).toBe(states)
  })

  test.each([
    ['observing', 'no payout settles until then'],
    ['deposits', 'what buyers send in USDC is seen late'],
    ['sending', 'check the keys of RELAYER_KEYS'],
  ] as const)('a failure of %s names what to do: %s', (name, todo) => {
    expect(only({ parts: [part(name, { failingSeconds: 60, failure: 'refused' })] })?.todo).toContain(todo)
  })

  test.each([
    ['treasury_blacklisted', 'Ask Circle why the treasury is on the blacklist.'],
    ['treasury_delegated', 'If you signed the delegation, revoke it'],
    ['gas_above_cap', 'Wait until gas is cheaper'],
  ] as const)('a part that rests for %s names what to do: %s', (cause, todo) => {
    expect(only({ parts: [part('signing', { ...paused, cause })] })?.todo).toContain(todo)
  })

  test('a part fails for all payouts if it has not succeeded since it began to fail', () => {
    expect(kinds({ parts: [{ ...signing, succeededSeconds: null }] })).toEqual(['part_fails!'])
    expect(kinds({ parts: [{ ...signing, succeededSeconds: 61 }] })).toEqual(['part_fails!'])
    expect(kinds({ parts: [{ ...signing, succeededSeconds: 60 }] })).toEqual(['part_fails'])
  })

  test('deposits that are not read stop nothing, also without payouts', () => {
    expect(kinds({ parts: [part('deposits', { failingSeconds: 60, failure: 'refused' })], queue: [] })).toEqual([
      'part_fails',
    ])
  })

  test('a failure is named from its thirtieth second on, and next to a chain that is not read', () => {
    expect(kinds({ parts: [{ ...signing, failingSeconds: 30 }] })).toEqual(['part_fails!'])
    expect(kinds({ parts: [signing], cursor: { ...CURSOR, ageSeconds: 120 } })).toEqual([
      'cursor_stuck!',
      'part_fails!',
    ])
    const observing = part('observing', { failingSeconds: 200, failure: 'no answer' })
    expect(kinds({ parts: [observing], cursor: { ...CURSOR, ageSeconds: 120 } })).toEqual(['cursor_stuck!'])
  })

  test('two parts that fail, and two causes to rest, are all named', () => {
    expect(kinds({ parts: [signing, part('sending', { failingSeconds: 60, failure: 'refused' })] })).toEqual([
      'part_fails!',
      'part_fails!',
    ])
    const dear = { failingSeconds: 60, cause: 'gas_above_cap', failure: 'gas costs 900 gwei' } as const
    expect(kinds({ parts: [part('signing', paused), part('sending', dear)] })).toEqual([
      'token_paused!',
      'gas_above_cap!',
    ])
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
    expect(only({ queue: [stopped('limit')] })?.what).toContain('1 payout of 10.000000 USDC waits')
    expect(kinds({ queue: [{ ...QUEUED, reason: 'limit' }] })).toEqual([])
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
    ['receipt', 'receipt', 'receipts have not been proved for an hour', 'block receipts'],
    ['unclaimed_transfer', 'unclaimed', 'no payout claims 2 transfers out of the treasury', 'settlement rebuild'],
    ['release_stopped', 'release', '2 releases of reserves are stopped until an operator decides', 'resume'],
    ['release_voided', 'release', '2 releases of reserves are void', 'resume'],
    ['release_differs', 'release', '2 releases that the restored backup lacks are of another amount', 'disputes'],
    ['sweep', 'sweep', 'deposits at 2 addresses have not been swept for an hour', 'a lane is free'],
    ['void', 'void', '2 payouts have been waiting for their void for two hours', 'A refund waits for it'],
    ['unserved', 'unserved', 'payouts of another chain or token wait, which no worker pays', 'CHAIN_ID'],
    ['no_key', 'no_key', 'payouts wait for the key of 2 treasuries, which no worker has', 'take-over'],
  ])('two entries of %s are one trouble: %s', (entry, kind, what, todo) => {
    const attention = ['a', 'b'].map((subject) => ({ kind: entry, subject, detail: null }))
    const queue = [{ ...QUEUED, state: 'broadcast' }]
    expect(only({ attention, queue })).toMatchObject({
      kind,
      stops: false,
      what: expect.stringContaining(what),
      todo: expect.stringContaining(todo),
    })
  })

  test('a transfer that no payout claims stops payouts only if the limit of the day is reached', () => {
    const attention = [{ kind: 'unclaimed_transfer', subject: '0x5', detail: null }]
    expect(kinds({ attention, queue: [stopped('limit'), QUEUED] })).toContain('unclaimed!')
    expect(kinds({ attention, queue: [stopped('operator'), QUEUED] })).toContain('unclaimed')
    expect(kinds({ attention, queue: [{ ...QUEUED, reason: 'limit' }] })).toContain('unclaimed')
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

  test('a rate that is not used is a trouble that stops no payout', () => {
    const refused = { kind: 'rate_refused', subject: 'EUR', detail: '1.08 USDC before, 108 now' }
    expect(only({ attention: [refused] })).toEqual({
      kind: 'rate',
      stops: false,
      what: 'the rates of 1 currency are far from those of an hour ago, and are not used (EUR: 1.08 USDC before, 108 now)',
      todo: expect.stringContaining('settlement accept-rate'),
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
    expect(only({ takeOvers: [{ ...takeOver, count: 1 }] })).toMatchObject({
      stops: false,
      what: `1 payout moves from the treasury ${TREASURY} to ${LANE}, which takes over`,
    })
    expect(only({ takeOvers: [{ ...takeOver, sinceSeconds: 7200 }] })?.todo).toContain('waits for its log')
  })

  test('payouts of suspended merchants are named with the command that continues them, and stop nothing', () => {
    expect(only({ queue: [stopped('merchant', 2), QUEUED] })).toMatchObject({
      kind: 'payout_stopped',
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
    const unknown = only({ queue: [stopped(null)] })
    expect(unknown?.what).toContain('is stopped (no reason)')
    expect(unknown?.todo).toContain('`pinrail payments retry-stopped <reason>`')
    const attention = [{ kind: 'payout_stopped', subject: 'pay_1', detail: 'policy: it is too large' }]
    expect(only({ queue: [stopped('policy')], attention })).toMatchObject({
      stops: false,
      kind: 'payout_stopped',
      what: expect.stringMatching(/until an operator decides \(pay_1: it is too large\)$/),
      todo: expect.stringMatching(/^Look with `pinrail payments explain pay_1`, /),
    })
    expect(only({ queue: [stopped('review')], attention })?.what).toMatch(/until an operator decides$/)
    const others = [
      { kind: 'chargeback', subject: 'pay_2', detail: 'policy: it was reversed' },
      { kind: 'payout_stopped', subject: 'pay_3', detail: null },
    ]
    expect(only({ queue: [stopped('policy')], attention: others })?.what).toMatch(/until an operator decides$/)
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
    isStuck: false,
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

  test('a float below its reserve is a trouble also while no conversion waits', () => {
    expect(only({ float: { ...FLOAT, freeMicro: '999000000' } })?.what).toBe(
      'the float is 999.000000 USDC, and its reserve 1000.000000',
    )
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
      kind: 'refill',
      stops: false,
      what: 'the refill rfl_1 of 8500.00 EUR waits for its money since 60 s',
      todo: 'Send what partners have settled of it to bridge in one transfer, unless somebody has: iban: IE1. What is missing counts as spread.',
    })
  })

  test('a refill that its partner reports as stuck is a trouble at once', () => {
    const refills = [{ ...REFILL, word: 'returned', isStuck: true, seconds: 60 }]
    expect(only({ float: { ...FLOAT, refills } })?.what).toBe(
      'the refill rfl_1 of 8500.00 EUR is stuck: bridge reports returned',
    )
  })

  test('a refill on its way is no trouble for three days', () => {
    expect(kinds({ float: { ...FLOAT, refills: [REFILL] } })).toEqual([])
    const late = (word: string | null) =>
      only({ float: { ...FLOAT, refills: [{ ...REFILL, word, seconds: 3 * 86_400 }] } })
    expect(late('payment_submitted')).toMatchObject({
      kind: 'refill',
      stops: false,
      what: 'the refill rfl_1 of 8500.00 EUR has not arrived for 3 days (payment_submitted)',
      todo: expect.stringContaining('`pinrail settlement end-refill rfl_1`'),
    })
    expect(late(null)?.what).toContain('(its partner was not asked)')
  })
})
