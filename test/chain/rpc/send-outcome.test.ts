import { expect, test } from '@jest/globals'
import { classifySendError } from '../../../src/chain/rpc/send-outcome.ts'

test.each([
  // geth and Bor (core/txpool/errors.go, core/error.go), anvil, and nodes in front of them.
  ['already known', 'accepted'],
  ['transaction already imported', 'accepted'],
  ['known transaction: 0xabc', 'accepted'],
  ['Transaction with the same hash was already imported.', 'accepted'],
  ['nonce too low: next nonce 8, tx nonce 7', 'nonce_used'],
  ['nonce too low', 'nonce_used'],
  ['replacement transaction underpriced', 'underpriced_replacement'],
  ['transaction underpriced', 'underpriced'],
  ['transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000', 'underpriced'],
  ['transaction gas price below minimum: gas tip cap 1, minimum needed 25000000000', 'underpriced'],
  ['max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2', 'underpriced'],
  ['insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1', 'no_gas_money'],
  ['Insufficient funds for gas * price + value', 'no_gas_money'],
  // geth, Bor; Erigon
  ['tx fee (1.68 ether) exceeds the configured cap (1.00 ether)', 'too_dear'],
  ['in-flight transaction limit reached for delegated accounts', 'delegated'],
  // Not in the table: the bytes may be in a pool.
  ['nonce too high: address 0x1, tx: 9 state: 7', 'unknown'],
  ['unknown transaction', 'unknown'],
  ['txpool is full', 'unknown'],
  ['oversized data: transaction size 140000, limit 131072', 'unknown'],
  ['The request took too long to respond.', 'unknown'],
  ['HTTP request failed. Status: 429', 'unknown'],
  ['HTTP request failed. Status: 503', 'unknown'],
  ['fetch failed', 'unknown'],
  ['Internal error', 'unknown'],
  ['', 'unknown'],
] as const)('"%s" means %s', (message, outcome) => {
  expect(classifySendError(message)).toBe(outcome)
})
