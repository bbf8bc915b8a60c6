import { readFileSync } from 'node:fs'

const read = (name: string): string => readFileSync(new URL(`./guides/${name}.md`, import.meta.url), 'utf8')

/** The guides in the order in which merchants need them. The path of each is `/docs/` and its name. */
export const GUIDES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    [
      'first-payment',
      'states',
      'links',
      'embedding',
      'webhooks',
      'refunds',
      'disputes',
      'receipts',
      'testing',
      'going-live',
    ],
    ['fees', 'limits', 'idempotency', 'pagination', 'versions', 'btcpay', 'agents'],
  ]
    .flat()
    .map((name) => [name, read(name)]),
)
