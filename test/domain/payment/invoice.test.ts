import { describe, expect, test } from '@jest/globals'
import {
  createInvoice,
  getItemAmount,
  type Invoice,
  type InvoiceFields,
  readItemPrice,
  renderInvoice,
} from '../../../src/domain/payment/invoice.ts'

const NONE: InvoiceFields = { invoice_number: null, merchant_tax_id: null, items: [] }
const BREAD = { name: 'Bread', quantity: 2, unit_amount: '3.20', tax_percent: '7' }
const ITEM = { name: 'Bread', quantity: 2, unitMinor: '320', taxPercent: '7' }

describe('The invoice of a payment', () => {
  test.each<[string, Partial<InvoiceFields>, Invoice | null]>([
    ['nothing', {}, null],
    ['a number', { invoice_number: 'R-7' }, { number: 'R-7', taxId: null, items: [] }],
    ['a tax id', { merchant_tax_id: 'DE1' }, { number: null, taxId: 'DE1', items: [] }],
    ['items', { items: [BREAD] }, { number: null, taxId: null, items: [ITEM] }],
  ])('an invoice is created from what the merchant adds, and null if that is nothing: %s', (_what, fields, invoice) => {
    expect(createInvoice({ ...NONE, ...fields }, 'EUR')).toStrictEqual(invoice)
    expect(renderInvoice(invoice, 'EUR')).toStrictEqual({ ...NONE, ...fields })
  })

  test('an item with a price that does not fit its currency is refused', () => {
    const fields = { ...NONE, items: [{ ...BREAD, unit_amount: '3.205' }] }
    expect(() => createInvoice(fields, 'EUR')).toThrow(new RangeError('the price of an item must fit its currency'))
  })
})

describe('The price of an item', () => {
  test.each([
    ['3.20', '320'],
    ['-3.20', '-320'],
    ['0', '0'],
    ['-0.00', '0'],
    ['--3', null],
    ['3-', null],
    ['3-4', null],
    ['3.205', null],
    ['bread', null],
  ])('the price %s is read as %s minor units', (text, minor) => {
    expect(readItemPrice(text, 'EUR')).toBe(minor)
  })

  test('the amount of an item is its price for each of its quantity', () => {
    expect(getItemAmount({ ...ITEM, quantity: 3, unitMinor: '-320' }, 'EUR')).toStrictEqual({
      minor: '-960',
      currency: 'EUR',
    })
  })
})
