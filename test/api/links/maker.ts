import type { RequestLimits } from '../../../src/api/limits/request-limits.ts'
import { signUp, Visitor } from '../site/visitor.ts'
import type { TestApi } from '../support/test-api.ts'

/** A wallet whose owner needs no account. */
export const OWN_WALLET = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

type Form = Readonly<Record<string, string>>

export const FORM: Form = {
  wallet: OWN_WALLET,
  title: 'Tasting box',
  kind: 'fixed',
  amount: '64',
  currency: 'EUR',
  provider: '',
}

export const getOnce = (html: string): string => /name="once" value="([\w-]{22})"/.exec(html)?.[1] ?? ''

export async function sendForm(testApi: Pick<TestApi, 'url'>, fields: Form = {}) {
  const visitor = new Visitor(testApi)
  const once = getOnce((await visitor.get('/links')).html)
  return visitor.post('/links', { once, ...FORM, ...fields })
}

export type Made = { readonly path: string; readonly owner: string; readonly code: string }

/** The paths that the page shows after making a link: the link's page and its owner's. */
export function madeIn(html: string): Made {
  const code = /value="https?:\/\/[^"]+\/l\/([0-9A-Za-z]{10})"/.exec(html)?.[1]
  const token = /value="https?:\/\/[^"]+\/o\/([\w-]{43})"/.exec(html)?.[1]
  if (code === undefined || token === undefined) throw new Error(`no link was made: ${html.slice(0, 3000)}`)
  return { path: `/l/${code}`, owner: `/o/${token}`, code }
}

export async function makeAnonymous(testApi: Pick<TestApi, 'url'>, fields: Form = {}): Promise<Made> {
  return madeIn((await sendForm(testApi, fields)).html)
}

/** Presses Continue on the page of a link. */
export async function pressOn(testApi: Pick<TestApi, 'url'>, path: string, form: Form = {}) {
  const visitor = new Visitor(testApi)
  const { html } = await visitor.get(path)
  const press = /name="press" value="([\w-]{22})"/.exec(html)?.[1] ?? ''
  return visitor.post(path, { press, ...form })
}

export const pressIn = (html: string): string => /name="press" value="([\w-]{22})"/.exec(html)?.[1] ?? ''

/** Actions of owners of links, for tests. */
export function linkFixture(testApi: TestApi) {
  let wallets = 0
  let people = 0
  const rows = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
    (await testApi.db.query(text, values)).rows
  const linkRow = async ({ code }: Made): Promise<Record<string, unknown>> =>
    (await rows('select * from payment_link where code = $1', [code]))[0] ?? {}
  return {
    rows,
    linkRow,
    readPayments: async (made: Made) =>
      rows('select * from payment where payment_link = $1 order by id', [(await linkRow(made))['id']]),
    /** Each has its own wallet: a wallet has a limit per day. */
    make: (fields: Form = {}): Promise<Made> =>
      makeAnonymous(testApi, { wallet: `0x${(0xbeef0000 + wallets++).toString(16).padStart(40, '1')}`, ...fields }),
    newOwner: (): Promise<Visitor> => signUp(testApi, `owner${people++}@shop.example`),
    /** Opens the page of the account that asks to bring the link in. */
    async readTicket({ owner }: Made): Promise<string> {
      const { to } = await new Visitor(testApi).post(`${owner}/claim`)
      if (to === null || !to.startsWith('/dashboard/links/claim/')) throw new Error(`no ticket: ${to}`)
      return to
    },
    async readAccountId(visitor: Visitor): Promise<string> {
      const { html } = await visitor.get('/dashboard/team')
      return /name="account" value="(mer_\w+)"/.exec(html)?.[1] ?? ''
    },
  }
}

/** An API without limits: tests send more than people do. */
export const withoutLimits = ({ limits }: { limits: RequestLimits }) => ({
  limits: {
    ...limits,
    countForm: () => undefined,
    countSignIn: () => undefined,
    countPress: () => undefined,
    countVisit: () => undefined,
  },
})
