import { expect, test } from '@jest/globals'
import { HOST_NAME } from '../../src/domain/host.ts'

const LONGEST = 'a'.repeat(63)

test.each(['shop.example', 'a.b', 'Shop.Example', 'my_shop.example', '_dmarc.shop-1.x9', `${LONGEST}.${LONGEST}`])(
  '%s is the name of a host',
  (host) => expect(host).toMatch(HOST_NAME),
)

test.each([
  '',
  'localhost',
  'shop.',
  'shop.example.',
  '.shop.example',
  'shop..example',
  '-shop.example',
  'shop-.example',
  'shop.-example',
  'shop.example-',
  'shop.4',
  '10.0.0.1',
  `${LONGEST}a.example`,
  `shop.${LONGEST}a`,
  'shop.exa mple',
  'shöp.example',
  'shop.example/',
  'shopxexample',
])('"%s" is not the name of a host with a domain', (host) => expect(host).not.toMatch(HOST_NAME))
