import type { NewLink } from '../../src/db/links/links.ts'

/** A link for 64.00 EUR, to be inserted by a test that is about something else. */
export function aLink(fields: Partial<NewLink> & Pick<NewLink, 'id'>): NewLink {
  return {
    // The end of an id is random.
    code: fields.id.slice(-10),
    price: { currency: 'EUR', amount: { minor: '6400', currency: 'EUR' }, min: null, max: null },
    provider: null,
    title: 'October tasting box',
    description: null,
    reference: null,
    metadata: null,
    invoice: null,
    successUrl: null,
    prefill: [],
    maxPayments: null,
    expiresAt: null,
    inactiveMessage: null,
    wallet: null,
    createdVia: 'api',
    anonymous: false,
    createdAt: new Date().toISOString(),
    ...fields,
  }
}
