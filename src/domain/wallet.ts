import { hasCharacters, withoutCharacters } from './text.ts'

/** In live mode a change waits for a day, so that the people who are notified can object. */
export const WALLET_WAIT_SECONDS = 86_400

/** Returns the text that the wallet's key signs to prove its owner. The signature identifies the address. */
export function walletProofText({ merchantId, livemode }: { merchantId: string; livemode: boolean }): string {
  return `Pinrail: pay the account ${merchantId} to this wallet, in ${livemode ? 'live' : 'test'} mode.`
}

export type WalletProblem = 'wallet_invalid' | 'wallet_checksum' | 'wallet_forbidden'

export type WalletCheck =
  /** In the mixed case of EIP-55. */
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly code: WalletProblem; readonly message: string }

export type WalletRules = {
  /** Converts an address from lower case to the mixed case of EIP-55, which needs keccak-256. */
  readonly checksum: (address: string) => string
  /** The token that is paid out: its contract would keep any money forever. */
  readonly token: string
}

/** Addresses without a known key: money that is sent there is lost. */
const BURNT = ['0x0000000000000000000000000000000000000000', '0x000000000000000000000000000000000000dead']

/**
 * Token contracts that people paste by mistake. On Polygon: USDC, bridged USDC, USDT, DAI, WPOL, WETH, WBTC, LINK,
 * AAVE. On Amoy: USDC. On Ethereum, from where people copy: USDC, USDT.
 */
const TOKENS = [
  '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
  '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
  '0xc2132d05d31c914a87c6611c10748aeb04b58e8f',
  '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063',
  '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619',
  '0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6',
  '0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39',
  '0xd6df932a45c0f255f85145f286ea0b292b21c90b',
  '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582',
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  '0xdac17f958d2ee523a2206206994597c13d831ec7',
]

/**
 * Contracts with one address on every chain that are no wallets; anyone can take what is in some of them: Multicall3,
 * Permit2, the entry points of ERC-4337 (0.6, 0.7), the deployer of CREATE2, CreateX, two routers of Uniswap.
 */
const CONTRACTS = [
  '0xca11bde05977b3631167028862be2a173976ca11',
  '0x000000000022d473030f116ddee9f6b43ac78ba3',
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4e59b44847b379578588920ca78fbf26c0b4956c',
  '0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed',
  '0xe592427a0aece92de3edee1f18e0157c05861564',
  '0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45',
]

/** Addresses below 2^16: precompiled contracts (EIP-1352), and Polygon's own (0x1000, 0x1001, 0x1010). */
const PRECOMPILED = /^0x0{36}/

/** Checks a wallet: `0x` and 40 hexadecimal digits; mixed case must be that of EIP-55. */
export function checkWallet(text: string, rules: WalletRules): WalletCheck {
  if (!isAddress(text)) return refused('wallet_invalid', `must be 0x and 40 hexadecimal digits${hint(text)}`)
  const digits = text.slice(2)
  const lower = text.toLowerCase()
  const address = rules.checksum(lower)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!oneCase && address !== text)
    return refused(
      'wallet_checksum',
      'must match its EIP-55 checksum in upper and lower case: a character was probably mistyped, so copy it again',
    )
  if (BURNT.includes(lower))
    return refused('wallet_forbidden', 'must be an address whose key somebody has, not a burn address')
  if (TOKENS.includes(lower) || lower === rules.token.toLowerCase())
    return refused(
      'wallet_forbidden',
      'must be a wallet, not the contract of a token, which would keep what is sent to it',
    )
  if (CONTRACTS.includes(lower) || PRECOMPILED.test(lower))
    return refused('wallet_forbidden', 'must be a wallet, not a shared contract')
  return { ok: true, address }
}

const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text)

function hint(text: string): string {
  if (/\.eth$/i.test(text)) return '; a name cannot be used, enter the address that it stands for'
  if (/^https?:\/\/\S*0x[0-9a-f]{40}/i.test(text)) return '; enter only the address, without the link around it'
  // Short names of chains (EIP-3770), CAIP-10, and links to pay (EIP-681).
  if (/^[a-z][a-z0-9-]*(?::[a-z0-9-]+)?:0x/i.test(text)) return ', without the prefix of a network'
  if (/^[0-9a-f]{40}$/i.test(text)) return '; 0x is missing at its beginning'
  if (isAddress(withoutCharacters(text, 'blank', 'break', 'turn', 'invisible')))
    return hasCharacters(text, 'turn', 'invisible')
      ? '; it has a character that cannot be seen: copy it again, or type it'
      : '; it has a blank or a line break'
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return '; this is longer, like a private key: never enter one anywhere'
  return ''
}

function refused(code: WalletProblem, message: string): WalletCheck {
  return { ok: false, code, message }
}
