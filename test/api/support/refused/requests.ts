import { AMOUNTS, CURRENCIES, IDS, INVALID, type Refused } from './values.ts'

export function requests(): Refused[] {
  return [...queryCases(), ...idCases(), ...headerCases()]
}

function queryCases(): Refused[] {
  const refused = (path: string, ...queries: string[]): Refused[] =>
    queries.map((query) => ({
      name: `${path}?${query}`,
      method: 'GET',
      path: `${path}?${query}`,
      options: {},
      statuses: INVALID,
    }))
  const limits = [
    'limit=0',
    'limit=-1',
    'limit=101',
    'limit=1.5',
    'limit=',
    'limit=ten',
    'limit=1e1',
    'limit=%00',
    'limit=1&limit=2',
    'limit[]=1',
    'starting_after=',
    `starting_after=${'x'.repeat(101)}`,
    'starting_after=a',
    'ending_before=pay_01m7z134d8fetv1hwd26y1yks',
    'surely=1',
  ]
  return [
    ...['/v1/payments', '/v1/payment_links', '/v1/events', '/v1/api_keys'].flatMap((path) => refused(path, ...limits)),
    ...refused(
      '/v1/payments',
      'status=',
      'status=paid',
      'status=created,',
      'currency=eur',
      'provider=x',
      'reference=',
      `reference=${'x'.repeat(201)}`,
      'reference=%00',
      'search=',
      'search=a%0ab',
      'tx_hash=0x',
      `tx_hash=${'a'.repeat(64)}`,
      'created[gte]=',
      'created[gte]=now',
      'created[lt]=2026-02-30T00:00:00Z',
      'created[lte]=1',
      'created=1',
      'payment_link=x',
    ),
    ...refused('/v1/payment_links', 'active=1', 'active=', 'reference=', 'search=%00', 'starting_after=pay_x'),
    ...refused(
      '/v1/events',
      'type=x',
      'after_sequence=-1',
      'after_sequence=1.5',
      'after_sequence=x',
      `after_sequence=${'9'.repeat(16)}`,
      'after_sequence=01',
      'starting_after=evt_x',
      'payment='.repeat(2) + 'x'.repeat(200),
    ),
    ...refused(
      '/v1/quotes',
      '',
      'amount=10',
      'currency=EUR',
      'amount=10&currency=EUR&x=1',
      'amount=10&currency=EUR&provider=x',
    ),
    ...AMOUNTS.filter(([, value]) => typeof value === 'string' && value.isWellFormed()).flatMap(([, value]) =>
      refused('/v1/quotes', `amount=${encodeURIComponent(String(value))}&currency=EUR`),
    ),
    ...CURRENCIES.filter(([, value]) => typeof value === 'string').flatMap(([, value]) =>
      refused('/v1/quotes', `amount=10&currency=${encodeURIComponent(String(value))}`),
    ),
    ...refused('/v1/providers', 'x=1', '__proto__=1', 'constructor=1'),
    ...refused('/v1/settings/wallet', 'x=1'),
    ...refused('/v1/webhook_endpoints', 'limit=1', 'x=1'),
  ]
}

function idCases(): Refused[] {
  const paths: readonly (readonly [string, string, object?])[] = [
    ['GET', '/v1/payments/{}'],
    ['GET', '/v1/payments/{}/timeline'],
    ['POST', '/v1/payments/{}/cancel'],
    ['GET', '/v1/payment_links/{}'],
    ['PATCH', '/v1/payment_links/{}', { active: true }],
    ['POST', '/v1/payment_links/{}/deactivate'],
    ['GET', '/v1/events/{}'],
    ['GET', '/v1/webhook_endpoints/{}'],
    ['DELETE', '/v1/webhook_endpoints/{}'],
    ['PATCH', '/v1/webhook_endpoints/{}', { enabled: true }],
    ['POST', '/v1/webhook_endpoints/{}/rotate_secret', {}],
    ['POST', '/v1/webhook_endpoints/{}/test'],
    ['GET', '/v1/webhook_endpoints/{}/deliveries'],
    ['POST', '/v1/webhook_endpoints/{}/redeliver_failed', { since: '0' }],
    ['POST', '/v1/api_keys/{}/rotate', {}],
    ['DELETE', '/v1/api_keys/{}'],
    ['POST', '/v1/test/payments/{}/simulate', { action: 'pay' }],
    ['POST', '/v1/test/payments/{}/skip_time', { seconds: 60 }],
  ]
  return paths.flatMap(([method, path, body]) =>
    IDS.map((id) => ({
      name: `${method} ${path} with the id ${id.slice(0, 40)}`,
      method,
      path: path.replace('{}', id),
      options: body === undefined ? {} : { body },
      statuses: [404],
    })),
  )
}

function headerCases(): Refused[] {
  const body = { amount: '49.99', currency: 'EUR' }
  const post = (name: string, headers: Record<string, string>, statuses: readonly number[]): Refused => ({
    name: `create a payment with ${name}`,
    method: 'POST',
    path: '/v1/payments',
    options: { body, headers },
    statuses,
  })
  const keys = ['', ' ', 'a b', 'a\tb', 'x'.repeat(256), '""', '"a b"', '\u00fc', '"\u00fc"']
  const types = [
    'text/plain',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json+x',
    'application/vnd.api+json',
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    'application/json; charset=latin1',
    '*/*',
    'json',
  ]
  const encodings = ['br2', 'zstd', 'compress', 'gzip, gzip', 'x']
  return [
    ...keys.map((key) =>
      post(`the Idempotency-Key ${JSON.stringify(key).slice(0, 20)}`, { 'idempotency-key': key }, [400]),
    ),
    ...types.map((type) => post(`the content type ${type}`, { 'content-type': type }, [415])),
    ...encodings.map((encoding) => post(`the encoding ${encoding}`, { 'content-encoding': encoding }, [415])),
    post('a body that is not gzip', { 'content-encoding': 'gzip' }, [400]),
    post('a body that is not deflate', { 'content-encoding': 'deflate' }, [400]),
    post('a body that is not brotli', { 'content-encoding': 'br' }, [400]),
    ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT'].map((method) => ({
      name: `${method} /v1/payments`,
      method,
      path: '/v1/payments',
      options: {},
      statuses: [405],
    })),
    ...[
      '/v1',
      '/v1/',
      '/v1/payments/',
      '/v1/Payments',
      '/v1//payments',
      '/v2/payments',
      '/payments',
      '/v1/payments.json',
      '/v1/%70ayments',
      '/v1/payments;a=1',
      '/v1/payments/../payments2',
      '/v1/webhooks',
    ].map((path) => ({
      name: `GET ${path}`,
      method: 'GET',
      path,
      options: {},
      statuses: [404],
    })),
  ]
}
