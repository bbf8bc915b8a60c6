import { expect, test } from '@jest/globals'
import {
  ABANDONED,
  describeTransfer,
  LeaseLostError,
  MISSING_PAUSE,
  PASSING_STOPS,
  PAYOUT_STATES,
  PAYOUT_STOP_REASONS,
  REVERSAL_PAUSE,
} from '../../../src/domain/settlement/payout.ts'

test('the states and stop reasons of a payout are those that rows have stored', () => {
  expect(PAYOUT_STATES.join(' ')).toBe('queued authorized assigned broadcast mined settled stopped voiding voided')
  expect(PAYOUT_STOP_REASONS.join(' ')).toBe('funds limit blacklisted policy refused operator')
})

test('the reasons of pauses and abandoned envelopes are those that rows have stored', () => {
  expect([ABANDONED, REVERSAL_PAUSE, MISSING_PAUSE]).toEqual([
    'abandoned by an operator',
    'finalized block ',
    'the treasuries have ',
  ])
})

test('only the stop reasons of funds and limit end automatically', () => {
  expect(PAYOUT_STOP_REASONS.filter((reason) => PASSING_STOPS.includes(reason))).toEqual(['funds', 'limit'])
})

test('an unknown transfer is described so that an operator finds it on the chain', () => {
  const log = {
    kind: 'out',
    treasury: '0xaa',
    txHash: '0xcc',
    logIndex: 0,
    blockNumber: 1,
    blockHash: '0xdd',
    authNonce: null,
    counterparty: '0xbb',
    microUsdc: '1000000',
    gasShare: null,
  } as const
  expect(describeTransfer(log)).toBe('unknown transfer of 1.000000 USDC from 0xaa to 0xbb in 0xcc')
  expect(describeTransfer({ ...log, microUsdc: null })).toContain('transfer of 0.000000 USDC')
})

test('a lost lease is recognized by the name of its error', () => {
  expect(new LeaseLostError('the lease went to another engine').name).toBe('LeaseLostError')
})
