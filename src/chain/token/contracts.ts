import type { Hex } from '../../domain/hex.ts'

/** The parts of contracts that settlement uses. Sources: circlefin/stablecoin-evm FiatTokenV2_2, mds1/multicall3. */

export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** Topic 0 of the events: keccak256 of their signatures. */
export const TOPICS = {
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  authorizationCanceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const satisfies Record<string, Hex>

/** Selectors of the token's read functions. Each takes words and returns one word. */
export const USDC_VIEWS = {
  decimals: '0x313ce567',
  paused: '0x5c975abb',
  domainSeparator: '0x3644e515',
  balanceOf: '0x70a08231',
  isBlacklisted: '0xfe575a87',
  authorizationState: '0xe94a0102',
} as const satisfies Record<string, Hex>
