import { describe, expect, test } from '@jest/globals'
import { summarizeStanding } from '../../../src/domain/settlement/answer.ts'
import type { Standing } from '../../../src/domain/settlement/standing.ts'
import { CHAIN, CURSOR, FUNDING, OPEN_LANE, QUEUED, stopped, WELL } from './well.ts'

const IDLE: Partial<Standing> = { queue: [], settled: { count: 0, secondsAgo: 50 } }

const answer = (fields: Partial<Standing>) => summarizeStanding({ ...WELL, ...fields })

describe('The question if money is moving', () => {
  test('money is moving in a healthy settlement', () => {
    expect(answer({})).toEqual({
      moving: 'yes',
      text: 'Money is moving: 4 settled in the last ten minutes, 2 payouts of 30.000000 USDC open.',
      troubles: [],
    })
    expect(answer({ settled: { count: 0, secondsAgo: null } }).text).toBe(
      'Money is moving: 2 payouts of 30.000000 USDC open.',
    )
  })

  test('without payouts there is nothing to do', () => {
    expect(answer(IDLE)).toEqual({
      moving: 'nothing_to_do',
      text: 'Nothing to do: every payout has ended, the last one 50 s ago.',
      troubles: [],
    })
    expect(answer({ queue: [], settled: { count: 0, secondsAgo: null } }).text).toBe(
      'Nothing to do: every payout has ended.',
    )
  })

  test('without payouts there is nothing to do, but a problem needs a look', () => {
    expect(answer({ ...IDLE, cursor: null })).toMatchObject({
      moving: 'nothing_to_do',
      text: 'Nothing waits to be paid, but look at this: no worker has read the chain yet.',
    })
  })

  test('a payout that waits for an operator keeps no other from moving', () => {
    const blacklisted = stopped('blacklisted')
    expect(answer({ queue: [blacklisted, QUEUED] })).toMatchObject({
      moving: 'partly',
      text: 'Money is moving (4 settled in the last ten minutes, 2 payouts of 30.000000 USDC open), but 1 payout of 10.000000 USDC is stopped (blacklisted) until an operator decides.',
    })
    expect(answer({ queue: [blacklisted] })).toMatchObject({
      moving: 'nothing_to_do',
      text: 'No other payout waits to be paid (4 settled in the last ten minutes), but look at this: 1 payout of 10.000000 USDC is stopped (blacklisted) until an operator decides.',
      troubles: [{ kind: 'payout_stopped', stops: false }],
    })
  })

  test('a payout that waits for an operator is the only one, and nothing has settled lately', () => {
    expect(answer({ queue: [stopped('blacklisted')], settled: { count: 0, secondsAgo: 50 } }).text).toBe(
      'No other payout waits to be paid, but look at this: 1 payout of 10.000000 USDC is stopped (blacklisted) until an operator decides.',
    )
  })

  test('money is moving with problems: one that stops everything comes first', () => {
    const one = { ...OPEN_LANE, wallet: FUNDING, status: 'quarantined', reason: 'its nonce was used' } as const
    expect(answer({ lanes: [OPEN_LANE, one] })).toMatchObject({
      moving: 'partly',
      text: `Money is moving (4 settled in the last ten minutes, 2 payouts of 30.000000 USDC open), but lane ${FUNDING} is quarantined: its nonce was used.`,
    })
    const both = answer({ lanes: [OPEN_LANE, one], cursor: { ...CURSOR, pausedReason: 'a foreign transfer came' } })
    expect(both.troubles.map(({ kind }) => kind)).toEqual(['paused', 'lane_quarantined'])
    expect([both.moving, both.text]).toEqual([
      'no',
      'No money is moving: signing and sending are paused, because a foreign transfer came.',
    ])
    const [, ...others] = CHAIN.nodes
    const chain = { ...CHAIN, nodes: [{ name: 'one', head: null, final: null, why: null }, ...others] }
    const unread = answer({ chain, cursor: { ...CURSOR, ageSeconds: 300, isObserved: false } })
    expect(unread.troubles.map(({ kind }) => kind)).toEqual(['no_worker', 'node'])
    const later = answer({ attention: [{ kind: 'payout_hook', subject: 'pay_1', detail: null }], lanes: [one] })
    expect(later.troubles.map(({ kind }) => kind)).toEqual(['lane_quarantined', 'hook'])
  })

  test('a payout that waits for ten minutes needs an explanation', () => {
    const old = (oldestSeconds: number, fields: Partial<Standing> = {}) =>
      answer({ queue: [{ ...QUEUED, oldestSeconds }], settled: { count: 0, secondsAgo: 700 }, ...fields })
    expect(old(599).moving).toBe('yes')
    expect(old(600)).toEqual({
      moving: 'no',
      text: 'No money is moving: the oldest payout has waited for 10 min and nothing has settled since, for an unknown reason.',
      troubles: [
        {
          kind: 'unexplained',
          stops: true,
          what: 'the oldest payout has waited for 10 min and nothing has settled since, for an unknown reason',
          todo: 'Run `pinrail doctor`, and read the worker’s log.',
        },
      ],
    })
    expect(old(600, { settled: { count: 1, secondsAgo: 1 } }).moving).toBe('yes')
    // The pause is the explanation.
    const paused = old(600, { cursor: { ...CURSOR, pausedReason: 'x' } })
    expect(paused.troubles.map(({ kind }) => kind)).toEqual(['paused'])
    // A stopped payout has its own reason.
    const isHeld = answer({
      queue: [QUEUED, { ...stopped('operator'), oldestSeconds: 9000 }],
      settled: { count: 0, secondsAgo: null },
    })
    expect(isHeld.troubles.map(({ kind }) => kind)).toEqual(['payout_stopped'])
  })
})
