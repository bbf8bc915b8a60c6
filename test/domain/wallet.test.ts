import { describe, expect, test } from '@jest/globals'
import { checkWallet, walletProofText } from '../../src/domain/wallet.ts'

/** The examples of EIP-55. */
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const ALL_UPPER = '0x52908400098527886E0F7030069857D2E4169EE7'
const TOKEN = '0x00000000000000000000000000000000000000AA'

/** EIP-55 for the addresses of this test; the rules receive it as a function. */
const checksum = (lower: string): string =>
  [MIXED, ALL_UPPER].find((address) => address.toLowerCase() === lower) ?? lower
const check = (text: string) => checkWallet(text, { checksum, token: TOKEN })
const sayings = (text: string) => {
  const answer = check(text)
  return answer.ok ? null : { code: answer.code, message: answer.message }
}
const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`

describe('A wallet', () => {
  test.each([MIXED, MIXED.toLowerCase(), upper(MIXED)])(
    'the wallet %s is accepted, and written in the case of EIP-55',
    (text) => {
      expect(check(text)).toEqual({ ok: true, address: MIXED })
    },
  )

  test('a wallet whose letters are all upper-case in EIP-55 too is accepted', () => {
    expect(check(ALL_UPPER)).toEqual({ ok: true, address: ALL_UPPER })
  })

  test('a wallet in the wrong mixture of cases is refused: a character may be mistyped', () => {
    expect(sayings(MIXED.replace('5aA', '5Aa'))).toEqual({
      code: 'wallet_checksum',
      message:
        'must match its EIP-55 checksum in upper and lower case: a character was probably mistyped, so copy it again',
    })
  })

  test.each(['', 'x', MIXED.slice(0, -1), `${MIXED}0`, `0X${MIXED.slice(2)}`, MIXED.replace('d', 'g')])(
    'a wallet is not read from %j',
    (text) => {
      expect(sayings(text)).toEqual({ code: 'wallet_invalid', message: 'must be 0x and 40 hexadecimal digits' })
    },
  )

  test.each([
    ['pinrail.eth', '; a name cannot be used, enter the address that it stands for'],
    ['Pinrail.ETH', '; a name cannot be used, enter the address that it stands for'],
    ['pinrail.ethereum', ''],
    [` ${MIXED}`, '; it has a blank or a line break'],
    [`${MIXED}\n`, '; it has a blank or a line break'],
    [`\u200b${MIXED}`, '; it has a character that cannot be seen: copy it again, or type it'],
    [`${MIXED}\u202c`, '; it has a character that cannot be seen: copy it again, or type it'],
    [MIXED.slice(2), '; 0x is missing at its beginning'],
    [`https://polygonscan.com/address/${MIXED}`, '; enter only the address, without the link around it'],
    [`https://polygonscan.com/token/x?a=${MIXED}#tx`, '; enter only the address, without the link around it'],
    [`http://polygonscan.com/address/${MIXED}`, '; enter only the address, without the link around it'],
    [`see https://polygonscan.com/address/${MIXED}`, ''],
    ['https://polygonscan.com/tx/0x1', ''],
    [`${MIXED.slice(2)}0`, ''],
    ['https://polygonscan.com', ''],
    [`arb1:${MIXED}`, ', without the prefix of a network'],
    [`eip155:137:${MIXED}`, ', without the prefix of a network'],
    [`ethereum:${MIXED}@137`, ', without the prefix of a network'],
    [`matic:${MIXED}`, ', without the prefix of a network'],
    [`POLYGON:${MIXED}`, ', without the prefix of a network'],
    [`1:${MIXED}`, ''],
    [`see polygon:${MIXED}`, ''],
    [`0x${'aB'.repeat(32)}`, '; this is longer, like a private key: never enter one anywhere'],
    [`0x${'a'.repeat(65)}`, ''],
    [`see 0x${'a'.repeat(64)}`, ''],
  ])('a wallet is not read from %s, and the reason helps', (text, hint) => {
    expect(sayings(text)).toEqual({ code: 'wallet_invalid', message: `must be 0x and 40 hexadecimal digits${hint}` })
  })

  test.each(['0x0000000000000000000000000000000000000000', '0x000000000000000000000000000000000000dead'])(
    'a burn address cannot be a wallet: %s',
    (text) => {
      const refusal = {
        code: 'wallet_forbidden',
        message: 'must be an address whose key somebody has, not a burn address',
      }
      expect(sayings(text)).toEqual(refusal)
      expect(sayings(upper(text))).toEqual(refusal)
    },
  )

  test.each([
    ['USDC on Polygon', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'],
    ['bridged USDC on Polygon', '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'],
    ['USDT on Polygon', '0xc2132d05d31c914a87c6611c10748aeb04b58e8f'],
    ['DAI on Polygon', '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'],
    ['WPOL', '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'],
    ['WETH on Polygon', '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619'],
    ['WBTC on Polygon', '0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6'],
    ['LINK on Polygon', '0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39'],
    ['AAVE on Polygon', '0xd6df932a45c0f255f85145f286ea0b292b21c90b'],
    ['USDC on Amoy', '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582'],
    ['USDC on Ethereum', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
    ['USDT on Ethereum', '0xdac17f958d2ee523a2206206994597c13d831ec7'],
    ['the token that is paid out', TOKEN.toLowerCase()],
  ])('a wallet that is the contract of %s is refused, in every case', (_name, text) => {
    const message = 'must be a wallet, not the contract of a token, which would keep what is sent to it'
    expect(sayings(text)).toEqual({ code: 'wallet_forbidden', message })
    expect(sayings(upper(text))).toEqual({ code: 'wallet_forbidden', message })
  })

  test.each([
    ['Multicall3', '0xca11bde05977b3631167028862be2a173976ca11'],
    ['Permit2', '0x000000000022d473030f116ddee9f6b43ac78ba3'],
    ['the entry point of ERC-4337 0.6', '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789'],
    ['the entry point of ERC-4337 0.7', '0x0000000071727de22e5e9d8baf0edac6f37da032'],
    ['the deployer of CREATE2', '0x4e59b44847b379578588920ca78fbf26c0b4956c'],
    ['CreateX', '0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed'],
    ['a router of Uniswap', '0xe592427a0aece92de3edee1f18e0157c05861564'],
    ['another router of Uniswap', '0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45'],
    ['a precompiled contract', `0x${'0'.repeat(39)}1`],
    ['a contract of Polygon itself', `0x${'0'.repeat(36)}1010`],
    ['the last address that is kept for them', `0x${'0'.repeat(36)}ffff`],
  ])('a wallet that is %s is refused, in every case', (_name, text) => {
    const refusal = { code: 'wallet_forbidden', message: 'must be a wallet, not a shared contract' }
    expect(sayings(text)).toEqual(refusal)
    expect(sayings(upper(text))).toEqual(refusal)
  })

  test.each([`0x${'0'.repeat(35)}10000`, `0x0${'a'.repeat(39)}`])('%s is not a known contract', (text) => {
    expect(check(text)).toEqual({ ok: true, address: text })
  })
})

test('a wallet’s key signs a text that names its future owner and the mode', () => {
  expect(walletProofText({ merchantId: 'mer_1', livemode: true })).toBe(
    'Pinrail: pay the account mer_1 to this wallet, in live mode.',
  )
  expect(walletProofText({ merchantId: 'mer_1', livemode: false })).toBe(
    'Pinrail: pay the account mer_1 to this wallet, in test mode.',
  )
})
