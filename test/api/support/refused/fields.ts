import type { SeededApi } from '../seeded-api.ts'
import { AMOUNTS, type Case, CURRENCIES, HOOKS, INVALID, JSON_TEXTS, type Refused, TEXTS, URLS } from './values.ts'

type BodyRoute = { readonly name: string; readonly path: string; readonly method: string; readonly body: object }

/** The routes that accept a body, each with a valid one. */
function bodyRoutes({ link, endpoint, apiKey }: SeededApi): readonly BodyRoute[] {
  return [
    { name: 'create a payment', method: 'POST', path: '/v1/payments', body: { amount: '49.99', currency: 'EUR' } },
    { name: 'preview', method: 'POST', path: '/v1/routes/preview', body: { amount: '49.99', currency: 'EUR' } },
    { name: 'endpoint', method: 'POST', path: '/v1/webhook_endpoints', body: { url: 'https://shop.example/h' } },
    { name: 'change of an endpoint', method: 'PATCH', path: `/v1/webhook_endpoints/${endpoint}`, body: {} },
    { name: 'rotation', method: 'POST', path: `/v1/webhook_endpoints/${endpoint}/rotate_secret`, body: {} },
    {
      name: 'redelivery',
      method: 'POST',
      path: `/v1/webhook_endpoints/${endpoint}/redeliver_failed`,
      body: { since: '0' },
    },
    { name: 'key', method: 'POST', path: '/v1/api_keys', body: { name: 'x' } },
    { name: 'rotation of a key', method: 'POST', path: `/v1/api_keys/${apiKey}/rotate`, body: {} },
    { name: 'link', method: 'POST', path: '/v1/payment_links', body: { title: 'x', currency: 'EUR' } },
    { name: 'change of a link', method: 'PATCH', path: `/v1/payment_links/${link}`, body: {} },
    { name: 'wallet', method: 'PUT', path: '/v1/settings/wallet', body: { address: `0x${'1'.repeat(40)}` } },
  ]
}

/** Invalid bodies, field by field and as a whole. */
export function bodies(victim: SeededApi): Refused[] {
  return [...fieldCases(victim), ...bodyCases(victim)]
}

function fieldCases(victim: SeededApi): Refused[] {
  const routes = bodyRoutes(victim)
  const [create, preview, endpoint, change, rotate, redeliver, key, , link, linkChange, wallet] = routes as [
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
    BodyRoute,
  ]
  const withField = (route: BodyRoute, field: string, cases: readonly Case[]): Refused[] =>
    cases.map(([name, value]) => ({
      name: `${route.name}: ${field} is ${name}`,
      method: route.method,
      path: route.path,
      options: { body: { ...route.body, [field]: value } },
      statuses: INVALID,
    }))
  const wrong = (...values: unknown[]): Case[] => values.map((value) => [JSON.stringify(value) ?? 'absent', value])
  // Left out of a preview: a cent is too small for a payment, but a preview has limits only for a method.
  const priced = AMOUNTS.filter(([name]) => name !== 'a cent')
  // Metadata is for programs: lines, tabs and empty texts are valid there.
  const forPrograms = /^(?:empty text|a line|a line separator|a carriage return|a tab|nothing but .*)$/
  const stored = TEXTS.filter(([name]) => !forPrograms.test(name))
  return [
    ...withField(create, 'amount', AMOUNTS),
    ...withField(preview, 'amount', priced),
    ...withField(create, 'currency', CURRENCIES),
    ...withField(preview, 'currency', CURRENCIES),
    ...withField(create, 'description', TEXTS),
    ...withField(create, 'reference', TEXTS),
    ...withField(create, 'metadata', [
      ...wrong(
        null,
        'x',
        5,
        ['a'],
        { a: 1 },
        { a: null },
        { a: {} },
        { '': 'x' },
        { ['k'.repeat(41)]: 'x' },
        { 'a\u0000': 'x' },
      ),
      ['51 keys', Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'x']))],
      ...stored.map(([name, value]): Case => [`a value of ${name}`, { a: value }]),
    ]),
    ...withField(create, 'success_url', URLS),
    ...withField(create, 'cancel_url', URLS),
    ...withField(
      create,
      'provider',
      wrong(null, '', 'stripe', 'WALLET_APP', 'wallet_app ', 5, [], {}, '__proto__', 'crypto'),
    ),
    ...withField(create, 'fallback', wrong(null, '', 'picker ', 'Picker', true, 0, [])),
    ...withField(create, 'expires_in', wrong(null, '3600', 0, -1, 1799, 604_801, 3600.5, 1e10, 1e300, [], {})),
    ...withField(preview, 'country', wrong(null, '', 'de', 'DEU', 'XX', 'D\u0000', 49, 'EU', '__proto__')),
    ...withField(preview, 'device_wallet', wrong(null, 'true', 1, [])),
    ...withField(endpoint, 'url', HOOKS),
    ...withField(change, 'url', HOOKS),
    ...withField(
      endpoint,
      'enabled_events',
      wrong(null, '*', [], ['x'], [null], ['payment.*'], {}, Array(21).fill('*')),
    ),
    ...withField(endpoint, 'description', TEXTS),
    ...withField(change, 'enabled', wrong(null, 'true', 0, [])),
    ...withField(rotate, 'overlap', wrong(null, '60', -1, 604_801, 1.5, [])),
    ...withField(
      redeliver,
      'since',
      wrong(null, 5, '', 'yesterday', '2026-02-30T00:00:00Z', '2026-01-01', [], '1e3', '9'.repeat(40)),
    ),
    ...withField(key, 'name', TEXTS),
    ...withField(key, 'scopes', wrong(null, 'payments:read', [], ['x'], ['payments:*'], [5], {})),
    ...withField(
      key,
      'allowed_ips',
      wrong(null, [], ['x'], ['1.2.3'], ['1.2.3.4/33'], ['::1/129'], ['localhost'], [5], '127.0.0.1'),
    ),
    ...withField(key, 'expires_in', wrong(null, 59, 31_536_001, 60.5, '60')),
    ...withField(link, 'amount', AMOUNTS),
    ...withField(link, 'min_amount', AMOUNTS),
    ...withField(link, 'currency', CURRENCIES),
    ...withField(link, 'title', TEXTS),
    ...withField(link, 'inactive_message', TEXTS),
    ...withField(link, 'success_url', URLS),
    ...withField(link, 'max_payments', wrong(null, 0, -1, 1.5, '5', 1_000_001, 1e300, [])),
    ...withField(
      link,
      'expires_at',
      wrong(null, 5, '', 'soon', '2020-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '1', []),
    ),
    ...withField(link, 'prefill', wrong(null, 'amount', ['wallet'], [5], {}, ['amount', 'amount', 'amount'])),
    ...withField(link, 'wallet', wrong(`0x${'1'.repeat(40)}`, null)),
    ...withField(linkChange, 'amount', wrong(5, null)),
    ...withField(linkChange, 'active', wrong(null, 'true', 0, [])),
    ...withField(linkChange, 'title', wrong(null, '', 'x'.repeat(101))),
    ...withField(
      wallet,
      'address',
      wrong(
        null,
        '',
        5,
        '0x',
        '1'.repeat(40),
        `0x${'1'.repeat(39)}`,
        `0x${'1'.repeat(41)}`,
        `0X${'1'.repeat(40)}`,
        `0x${'g'.repeat(40)}`,
        'shop.eth',
        `0x${'0'.repeat(40)}`,
        ` 0x${'1'.repeat(40)}`,
      ),
    ),
  ]
}

function bodyCases(victim: SeededApi): Refused[] {
  return bodyRoutes(victim).flatMap(({ name, method, path }) =>
    JSON_TEXTS.map(([what, text]) => ({
      name: `${name}: the body is ${what}`,
      method,
      path,
      options: { body: Buffer.from(String(text)), headers: {} },
      statuses: [400],
    })),
  )
}
