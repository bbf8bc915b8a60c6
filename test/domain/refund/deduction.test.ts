import { expect, test } from '@jest/globals'
import { decideDeduction } from '../../../src/domain/refund/deduction.ts'

const claim = (refundId: string, neededMicro: string) => ({ refundId, neededMicro })

test.each([
  [
    'all that is needed',
    '9000000',
    [claim('re_1', '5000000')],
    { refundId: 're_1', micro: '5000000', releaseId: null },
  ],
  ['all but one USDC', '9000000', [claim('re_1', '9000000')], { refundId: 're_1', micro: '8000000', releaseId: null }],
  ['nothing of one USDC', '1000000', [claim('re_1', '5000000')], null],
  ['one micro-USDC', '1000001', [claim('re_1', '5000000')], { refundId: 're_1', micro: '1', releaseId: null }],
  ['nothing without a claim', '9000000', [], null],
  [
    'for the oldest that needs USDC',
    '9000000',
    [claim('re_1', '0'), claim('re_2', '1'), claim('re_3', '5')],
    { refundId: 're_2', micro: '1', releaseId: null },
  ],
])('a payout is deducted: %s', (_name, payoutMicro, claims, expected) => {
  expect(decideDeduction(payoutMicro, claims)).toEqual(expected)
})
