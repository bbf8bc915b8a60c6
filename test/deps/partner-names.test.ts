import { expect, test } from '@jest/globals'
import { partnerNames } from '../../src/deps/shared.ts'

const REAL = ['wallet_app:Bankline:BANKLINE LONDON', 'card_partner:Cardhouse', 'local_partner:Paisa:PAISA*UPI']

test('the simulated partners have names in test mode', () => {
  expect(partnerNames({ PINRAIL_MODE: 'test' }).wallet_app).toEqual({ name: 'Velanto', statement: 'VELANTO' })
})

test('live mode names its own partners, or does not start', () => {
  expect(() => partnerNames({ PINRAIL_MODE: 'live' })).toThrow('PARTNER_NAMES must have wallet_app:<name>:<statement>')
  expect(partnerNames({ PINRAIL_MODE: 'live', PARTNER_NAMES: REAL })).toMatchObject({
    wallet_app: { name: 'Bankline', statement: 'BANKLINE LONDON' },
    card_partner: { name: 'Cardhouse', statement: 'CARDHOUSE' },
  })
})

test.each([['wallet_app:Bankline'], ['wallet_app:', 'card_partner:b', 'local_partner:c'], []])(
  'names that are missing or empty stop the start: %j',
  (...names) => expect(() => partnerNames({ PINRAIL_MODE: 'test', PARTNER_NAMES: names })).toThrow('PARTNER_NAMES'),
)
