import { expect, test } from '@jest/globals'
import { RECEIPT_FORMAT } from '../../../src/domain/settlement/receipt.ts'

test('a receipt names its format, which never changes', () => {
  expect(RECEIPT_FORMAT).toBe('pinrail.receipt.v1')
})
