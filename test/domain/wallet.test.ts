import { describe, expect, test } from '@jest/globals'
import { checkWallet } from '../../src/domain/wallet.ts'

/** The examples of EIP-55. */
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const ALL_UPPER = '0x52908400098527886E0F7030069857D2E4169EE7'
const TOKEN = '0x00000000000000000000000000000000000000AA'

/** EIP-55 for the addresses of this test; the rules do not know how it is computed. */
const checksum = (lower: string): string =>
  [MIXED, ALL_UPPER].find((address) => address.toLowerCase() === lower) ?? lower
const check = (text: string) => checkWallet(text, { checksum, token: TOKEN })
const sayings = (text: string) => {
  const answer = check(text)
  return answer.ok ? null : { code: answer.code, message: answer.message }
}
const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`

describe('a wallet', () => {
  test.each([MIXED, MIXED.toLowerCase(), upper(MIXED)])('%s is taken, and written as EIP-55 does', (text) => {
    expect(check(text)).toEqual({ ok: true, address: MIXED })
  })

  test('whose letters are all large in EIP-55 too is taken', () => {
    expect(check(ALL_UPPER)).toEqual({ ok: true, address: ALL_UPPER })
  })

  test('in the wrong mixture of cases is refused: a character may be mistyped', () => {
    expect(sayings(MIXED.replace('5aA', '5Aa'))).toEqual({
      code: 'wallet_checksum',
      message: 'must have the upper and lower case of EIP-55: a character was probably mistyped, so copy it again',
    })
  })

  test.each([
    '',
    'x',
    MIXED.slice(2),
    MIXED.slice(0, -1),
    `${MIXED}0`,
    ` ${MIXED}`,
    `${MIXED}\n`,
    `0X${MIXED.slice(2)}`,
    MIXED.replace('d', 'g'),
  ])('is not read from %j', (text) => {
    expect(sayings(text)).toEqual({ code: 'wallet_invalid', message: 'must be 0x and 40 hexadecimal digits' })
  })

  test.each([
    ['pinrail.eth', '; a name cannot be used, enter the address that it stands for'],
    ['Pinrail.ETH', '; a name cannot be used, enter the address that it stands for'],
    ['pinrail.ethereum', ''],
    [`matic:${MIXED}`, ', without the prefix of a network'],
    [`POLYGON:${MIXED}`, ', without the prefix of a network'],
    [`1:${MIXED}`, ''],
    [`see polygon:${MIXED}`, ''],
    [`0x${'aB'.repeat(32)}`, '; this is longer, like a private key: never enter one anywhere'],
    [`0x${'a'.repeat(65)}`, ''],
    [`see 0x${'a'.repeat(64)}`, ''],
  ])('is not read from %s, and the reason helps', (text, hint) => {
    expect(sayings(text)).toEqual({ code: 'wallet_invalid', message: `must be 0x and 40 hexadecimal digits${hint}` })
  })

  test.each(['0x0000000000000000000000000000000000000000', '0x000000000000000000000000000000000000dead'])(
    '%s belongs to nobody',
    (text) => {
      const refusal = { code: 'wallet_forbidden', message: 'must be an address that somebody has the key of' }
      expect(sayings(text)).toEqual(refusal)
      expect(sayings(upper(text))).toEqual(refusal)
    },
  )

  test.each([
    ['USDC on Polygon', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'],
    ['bridged USDC on Polygon', '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'],
    ['USDC on Amoy', '0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582'],
    ['the token that is paid out', TOKEN.toLowerCase()],
  ])('that is the contract of %s is refused, in every case', (_name, text) => {
    const message = 'must be a wallet, not the contract of a token, which would keep what is sent to it'
    expect(sayings(text)).toEqual({ code: 'wallet_forbidden', message })
    expect(sayings(upper(text))).toEqual({ code: 'wallet_forbidden', message })
  })
})
