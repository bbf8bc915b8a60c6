import { expect, test } from '@jest/globals'
import { listAddresses } from '../../src/domain/platform.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'

test('a platform lists the addresses that it has, the legal ones first', () => {
  expect(listAddresses(PLAIN_PLATFORM)).toEqual([])
  const platform = {
    ...PLAIN_PLATFORM,
    logo: 'logo.svg',
    support: 'help@pay.example',
    status: 'https://status.pay.example',
    privacy: 'https://pay.example/privacy',
    terms: 'https://pay.example/terms',
    imprint: 'https://pay.example/imprint',
  }
  expect(listAddresses(platform)).toEqual([
    { place: 'imprint', address: 'https://pay.example/imprint' },
    { place: 'terms', address: 'https://pay.example/terms' },
    { place: 'privacy', address: 'https://pay.example/privacy' },
    { place: 'status', address: 'https://status.pay.example' },
    { place: 'support', address: 'help@pay.example' },
  ])
})
