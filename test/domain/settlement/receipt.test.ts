import { expect, test } from '@jest/globals'
import { RECEIPT_FORMAT } from '../../../src/domain/settlement/receipt.ts'

test('receipts that people keep name a format that stays', () => {
  expect(RECEIPT_FORMAT).toBe('pinrail.receipt.v1')
})
