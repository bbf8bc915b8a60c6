import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { convertToMicroUsdc } from '../../../src/domain/money.ts'
import {
  type Deposit,
  getDepositStatus,
  isDust,
  MINED_IN_VAIN,
  readTransferLink,
  receivedMoney,
  transferLink,
} from '../../../src/domain/settlement/deposit.ts'

const EXPIRY = 1_800_000_000
const deposit = (changes: Partial<Deposit> = {}): Deposit => ({
  paymentId: 'pay_1',
  attemptId: 'att_1',
  address: `0x${'d'.repeat(40)}`,
  chainId: 137,
  token: `0x${'c'.repeat(40)}`,
  asked: { minor: '4999', currency: 'EUR' },
  askedMicro: '58300000',
  rate: '1.166233',
  rateSource: 'test',
  rateAsOf: '2026-01-01T00:00:00.000Z',
  expiresAt: EXPIRY,
  receivedMicro: '0',
  receipts: [],
  wrongToken: false,
  ...changes,
})
const status = (changes: Partial<Deposit>, now = EXPIRY - 1) =>
  getDepositStatus(deposit(changes), { now, tolerancePercent: 1 })

describe('A deposit', () => {
  test('a deposit of the requested amount is paid, and worth exactly the price', () => {
    expect(status({ receivedMicro: '58300000' })).toBe('paid')
    expect(receivedMoney(deposit({ receivedMicro: '58300000' })).minor).toBe('4999')
  })

  test('a deposit of more is paid with its amount', () => {
    expect(status({ receivedMicro: '60000000' })).toBe('paid')
    expect(receivedMoney(deposit({ receivedMicro: '60000000' })).minor).toBe('5144')
  })

  test('a deposit that lacks no more than the tolerance is paid', () => {
    expect(status({ receivedMicro: '57730000' })).toBe('paid')
    expect(status({ receivedMicro: '57700000' })).toBe('open')
  })

  test('a deposit of a part waits for the rest until the expiry, and then is paid with too little', () => {
    expect(status({ receivedMicro: '20000000' })).toBe('open')
    expect(status({ receivedMicro: '20000000' }, EXPIRY)).toBe('paid')
  })

  test('a deposit of nothing, or of less than a minor unit, stays open, also after the expiry', () => {
    expect(status({}, EXPIRY + 1)).toBe('open')
    expect(status({ receivedMicro: '1' }, EXPIRY + 1)).toBe('open')
  })

  test('a deposit in another token is reported until the right one arrives', () => {
    expect(status({ wrongToken: true })).toBe('wrong_asset')
    expect(status({ wrongToken: true, receivedMicro: '20000000' })).toBe('wrong_asset')
    expect(status({ wrongToken: true, receivedMicro: '20000000' }, EXPIRY)).toBe('paid')
    expect(status({ wrongToken: true, receivedMicro: '58300000' })).toBe('paid')
  })

  test('a deposit of the requested amount is the price at any price and rate, and more is never worth less', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 1_000_000 }), fc.integer({ min: 1, max: 2_000_000 }), (minor, rate) => {
        const asked = { minor: String(minor), currency: 'EUR' } as const
        const askedMicro = convertToMicroUsdc(
          asked,
          `${Math.floor(rate / 1_000_000)}.${String(rate % 1_000_000).padStart(6, '0')}`,
        )
        fc.pre(askedMicro !== '0')
        const worth = (micro: bigint) =>
          BigInt(receivedMoney({ asked, askedMicro, receivedMicro: String(micro) }).minor)
        expect(worth(BigInt(askedMicro))).toBe(BigInt(minor))
        expect(worth(BigInt(askedMicro) + 1n) >= BigInt(minor)).toBe(true)
        expect(worth(BigInt(askedMicro) - 1n) < BigInt(minor)).toBe(true)
      }),
    )
  })
})

test.each([
  ['0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', '9999', '10000'],
  ['0xc2132d05d31c914a87c6611c10748aeb04b58e8f', '9999', '10000'],
  // DAI has 18 decimals.
  ['0x8f3cf7ad23cd3cadbd9735aff958023239c6a063', '9999999999999999', '10000000000000000'],
] as const)('less than 0.01 of the token %s is dust: %s units are, and %s are not', (token, dust, units) => {
  expect([isDust({ token, units: dust }), isDust({ token, units })]).toEqual([true, false])
})

test('the reason of a funding that moved nothing is the one that rows have stored', () => {
  expect(MINED_IN_VAIN).toBe('its transaction has moved nothing')
})

describe('The EIP-681 link', () => {
  const request = { chainId: 137, token: deposit().token, address: deposit().address, micro: '58300000' }

  test('the EIP-681 link asks a wallet for a transfer of the token, in its smallest unit, on the chain', () => {
    expect(transferLink(request)).toBe(
      `ethereum:0x${'c'.repeat(40)}@137/transfer?address=0x${'d'.repeat(40)}&uint256=58300000`,
    )
    expect(readTransferLink(transferLink(request))).toEqual(request)
    // Pages write the addresses in the case of EIP-55.
    const spelled = transferLink(request).replaceAll('ccc', 'CcC').replaceAll('ddd', 'dDD')
    expect(readTransferLink(spelled)).toEqual(request)
  })

  test.each([
    'upi://pay?pa=x',
    '',
    'ethereum:0x12@137/transfer',
    `${transferLink(request)}&gas=1`,
    `see ${transferLink(request)}`,
  ])('the EIP-681 link is not read from %j', (text) => expect(readTransferLink(text)).toBeNull())
})
