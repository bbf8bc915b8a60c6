import { describe, expect, test } from '@jest/globals'
import { readInvoiceMetadata, renderInvoiceMetadata } from '../../../src/domain/btcpay/metadata.ts'

describe('The metadata of an invoice', () => {
  test('the order, the address of the buyer and the description become fields of the payment', () => {
    const read = readInvoiceMetadata({
      orderId: 1042,
      buyerEmail: 'Anna@Mail.example',
      itemDesc: 'Two tickets',
      a: 'b',
    })
    expect(read).toEqual({
      reference: '1042',
      description: 'Two tickets',
      customerEmail: 'anna@mail.example',
      metadata: { a: 'b' },
    })
  })

  test('texts return unchanged, and other values as their JSON', () => {
    const posData = JSON.stringify({ WooCommerce: { 'Order ID': 77, 'Plugin Version': '2.8.0' } })
    const { metadata } = readInvoiceMetadata({ posData, taxIncluded: 1.5, lines: [{ n: 1 }], none: null })
    expect(metadata).toEqual({ posData, taxIncluded: '1.5', lines: '[{"n":1}]' })
    expect(renderInvoiceMetadata({ reference: '77', description: null, metadata })).toEqual({
      ...metadata,
      orderId: '77',
    })
  })

  test('the name, the addresses and the telephone number of a buyer are not stored', () => {
    const personal = ['Name', 'Address1', 'Address2', 'City', 'State', 'Zip', 'Country', 'Phone']
    const sent = Object.fromEntries(personal.map((name) => [`buyer${name}`, 'Anna']))
    expect(JSON.stringify(readInvoiceMetadata(sent))).not.toContain('Anna')
  })

  test('what a payment has no room for is left out', () => {
    const keys = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key${at}`, 'x']))
    const { metadata, customerEmail, description } = readInvoiceMetadata({
      long: 'x'.repeat(501),
      ['n'.repeat(41)]: 'x',
      control: 'a\u0000b',
      '': 'x',
      buyerEmail: 'nobody',
      itemDesc: 'x'.repeat(501),
      ...keys,
    })
    expect([Object.keys(metadata).length, customerEmail, description]).toEqual([50, null, null])
    expect(Object.keys(metadata).every((key) => key.startsWith('key'))).toBe(true)
  })
})
