/** The rules for the wallet that a merchant is paid to. */

export type WalletProblem = 'wallet_invalid' | 'wallet_checksum' | 'wallet_forbidden'

export type WalletCheck =
  /** In the mixed case of EIP-55. */
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly code: WalletProblem; readonly message: string }

export type WalletRules = {
  /** The address in the mixed case of EIP-55, which needs keccak-256. Given in lower case. */
  readonly checksum: (address: string) => string
  /** The token that is paid out, whose contract would keep what is sent to it for ever. */
  readonly token: string
}

/** Nobody has the key of these; what is sent there is lost. */
const BURNT = ['0x0000000000000000000000000000000000000000', '0x000000000000000000000000000000000000dead']

/** Contracts of USDC and bridged USDC on Polygon and Amoy: they are pasted by mistake. */
const TOKENS = [
  '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
  '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
  '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582',
]

/** `0x` and 40 hexadecimal digits; mixed case must be that of EIP-55. */
export function checkWallet(text: string, rules: WalletRules): WalletCheck {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    return refused('wallet_invalid', `must be 0x and 40 hexadecimal digits${hint(text)}`)
  const digits = text.slice(2)
  const lower = text.toLowerCase()
  const address = rules.checksum(lower)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!oneCase && address !== text)
    return refused(
      'wallet_checksum',
      'must have the upper and lower case of EIP-55: a character was probably mistyped, so copy it again',
    )
  if (BURNT.includes(lower)) return refused('wallet_forbidden', 'must be an address that somebody has the key of')
  if (TOKENS.includes(lower) || lower === rules.token.toLowerCase())
    return refused(
      'wallet_forbidden',
      'must be a wallet, not the contract of a token, which would keep what is sent to it',
    )
  return { ok: true, address }
}

function hint(text: string): string {
  if (/\.eth$/i.test(text)) return '; a name cannot be used, enter the address that it stands for'
  if (/^[a-z]+:0x/i.test(text)) return ', without the prefix of a network'
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return '; this is longer, like a private key: never enter one anywhere'
  return ''
}

function refused(code: WalletProblem, message: string): WalletCheck {
  return { ok: false, code, message }
}
