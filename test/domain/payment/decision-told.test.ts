import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import {
  DECISIONS,
  PAYOUT_SIGNED,
  payloadOf,
  setsMoneyGoing,
  whyNotThere,
} from '../../../src/domain/payment/decision.ts'
import { OPERATOR_DECISIONS } from '../../../src/domain/payment/requests.ts'

describe('what operators are told of decisions', () => {
  test('the table in docs/operations.md says what each does, and each reason to refuse it', () => {
    const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
    const rows = new Map(
      page.split('\n').flatMap((line) => {
        const [, decision, does, when] = /^\| `(\w+)` \| (.*) \| (.*) \|$/.exec(line) ?? []
        return decision === undefined ? [] : [[decision, { does, when }]]
      }),
    )
    for (const decision of OPERATOR_DECISIONS) {
      const { does, rule, late } = DECISIONS[decision]
      expect(rows.get(decision)).toEqual({ does, when: [rule, ...late].map(({ when }) => when).join('; ') })
    }
  })

  test('a hold that comes too late says what to do in its place', () => {
    expect(PAYOUT_SIGNED.why).toBe(
      'The payout is signed, on its way or ended: it can no longer be held. Void it instead',
    )
  })

  test('what is sent along with it: the version with those that accept what is there', () => {
    expect(OPERATOR_DECISIONS.filter((decision) => payloadOf(decision).includes('version'))).toEqual([
      'approve',
      'recordExternalRefund',
      'release',
      'acknowledge',
    ])
    expect(payloadOf('approve')).toBe('{"operator", "reason", "version"}')
    expect(payloadOf('hold')).toBe('{"operator", "reason"}')
  })

  test('why nothing goes on while the report of the partner is not understood', () => {
    const unclear = { understood: false, withheld: false }
    expect(whyNotThere(unclear, { orderChanged: true })).toBe(
      'The partner has changed the amount of the order: decide with acknowledge, or refund the money. Nothing was changed.',
    )
    expect(whyNotThere(unclear, { orderChanged: false })).toBe(
      'The partner’s report does not match this order, or a newer report has arrived. Nothing was changed: decide again when the partner has corrected it. If a payout must not be paid, void it (`pinrail settlement void`), then refund.',
    )
    expect(whyNotThere(null, { orderChanged: false })).toBe(
      'The partner does not answer for this order, so it is not known whether the money is still there. Nothing was changed: decide again later.',
    )
  })

  test('why nothing goes on while the partner holds the money back', () => {
    const here = { understood: true, withheld: false }
    expect(whyNotThere(here, { orderChanged: false })).toBeNull()
    expect(whyNotThere({ ...here, withheld: true }, { orderChanged: false })).toBe(
      'The partner withholds the money of this order, or no longer confirms it. Nothing was changed: decide again when the partner has released the money, or refund it. If a payout must not be paid, void it first (`pinrail settlement void`)',
    )
  })
})

test('the money goes on after an approval, a release and a retry, unless its transfer is proved', () => {
  const going = (txHash: string | null) =>
    OPERATOR_DECISIONS.filter((decision) => setsMoneyGoing(decision, { txHash } as { txHash: `0x${string}` | null }))
  expect(going(null).toSorted()).toEqual(['approve', 'release', 'retry'])
  expect(going('0x1')).toEqual([])
})
