import type { Hex } from '../domain/payout.ts'

/** The contracts that settlement talks to, as far as it does. Sources: circlefin/stablecoin-evm FiatTokenV2_2, mds1/multicall3. */

export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** keccak256 of the event signatures, as they stand in topic 0. */
export const TOPICS = {
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  authorizationCanceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const satisfies Record<string, Hex>

const view = (name: string, inputs: readonly string[], output: string) => ({
  type: 'function' as const,
  name,
  stateMutability: 'view' as const,
  inputs: inputs.map((type) => ({ name: '', type })),
  outputs: [{ name: '', type: output }],
})

/** Selectors of the token's read functions, by name. */
export const usdcViews = {
  decimals: view('decimals', [], 'uint8'),
  paused: view('paused', [], 'bool'),
  domainSeparator: view('DOMAIN_SEPARATOR', [], 'bytes32'),
  name: view('name', [], 'string'),
  version: view('version', [], 'string'),
  balanceOf: view('balanceOf', ['address'], 'uint256'),
  isBlacklisted: view('isBlacklisted', ['address'], 'bool'),
  authorizationState: view('authorizationState', ['address', 'bytes32'], 'bool'),
} as const

/** The `(v, r, s)` overloads: they exist since V2 and need no ERC-1271 wallet. */
export const usdcWrites = [
  {
    type: 'function',
    name: 'transferWithAuthorization',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
      { name: 'v', type: 'uint8' },
      { name: 'r', type: 'bytes32' },
      { name: 's', type: 'bytes32' },
    ],
    outputs: [],
  },
  {
    type: 'function',
    name: 'cancelAuthorization',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
      { name: 'v', type: 'uint8' },
      { name: 'r', type: 'bytes32' },
      { name: 's', type: 'bytes32' },
    ],
    outputs: [],
  },
] as const
