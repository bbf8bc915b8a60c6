import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { privateKeyToAccount } from 'viem/accounts'
import { execute, sql } from '../../../../src/db/db.ts'
import { newId } from '../../../../src/ids.ts'
import { noticeMail } from '../../../../src/notify/notice-mail.ts'
import { createNoticeRound } from '../../../../src/worker/notify/notice-round.ts'
import { openShop, type Shop, WALLET } from '../../support/shop.ts'
import { type Account, openAccount } from '../account.ts'
import { mailsTo, signIn, Visitor } from '../visitor.ts'

const HOLDER = privateKeyToAccount('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let shop: Shop
let live: Shop
beforeAll(async () => {
  ;[shop, live] = await Promise.all([openShop(), openShop({ mode: 'live' })])
})
afterAll(() => Promise.all([shop?.close(), live?.close()]))

const PATH = '/dashboard/wallet'
const ask = (visitor: Visitor, address: string, more = {}) => visitor.submit(PATH, { address, again: address, ...more })
const shows = async (visitor: Visitor, ...texts: string[]): Promise<boolean[]> => {
  const { html } = await visitor.get(PATH)
  return texts.map((text) => html.replaceAll(/<[^>]+>/g, '').includes(text))
}
const grouped = (address: string): string => `0x${address.slice(2).match(/.{4}/g)?.join(' ')}`

async function addMember(to: Shop, { tenant }: Account, email: string, role: string): Promise<Visitor> {
  const visitor = await signIn(to, email)
  await execute(
    to.db,
    sql`insert into membership (merchant_id, person_id, role) select ${tenant.merchantId}, id, ${role} from person
        where email = ${email}`,
  )
  return visitor
}

const tell = (): Promise<number> =>
  createNoticeRound({
    db: live.db,
    seal: (text, id) => live.secretBox.seal(text, id),
    newMailId: () => newId('mail'),
    publicUrl: 'https://pay.pinrail.example',
    noticeMail,
    clock: Date.now,
  })()

async function stopPath(email: string): Promise<string> {
  const text = (await mailsTo(live, email)).map((mail) => mail.text).findLast((one) => one.includes('/wallet/stop/'))
  return /\/wallet\/stop\/\S+/.exec(text ?? '')?.[0] ?? ''
}

test('the form says which character differs, refuses addresses that are no wallets, and takes a signature as proof', async () => {
  const { owner, tenant } = await openAccount(shop, 'wallet@shop.example')
  const wrong = async (form: Record<string, string>): Promise<string> => {
    const answer = await owner.submit(PATH, form)
    expect(answer.status).toBe(400)
    return answer.html
  }
  expect(await wrong({ address: OTHER, again: `${OTHER.slice(0, -1)}1` })).toContain(
    'The last character differs: 6 above, 1 here.',
  )
  expect(await wrong({ address: OTHER, again: OTHER.slice(0, -1) })).toContain('It is 41 characters long here, and 42')
  for (const [address, text] of [
    [OTHER.replace('F79bf6', 'F79Bf6'), 'a character was probably mistyped'],
    [`0x${'0'.repeat(40)}`, 'Must be an address that somebody has the key of'],
    ['0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'not the contract of a token'],
    ['0xcA11bde05977b3631167028862bE2a173976CA11', 'not a contract that everybody uses'],
    ['shop.eth', 'a name cannot be used'],
  ] as const)
    expect(await wrong({ address, again: address })).toContain(text)
  const proofText = /aria-label="Text to sign"><code>([^<]+)/.exec((await owner.get(`${PATH}/change`)).html)?.[1] ?? ''
  expect(proofText).toContain(tenant.merchantId)
  const signature = await HOLDER.signMessage({ message: proofText })
  expect(await wrong({ address: OTHER, again: OTHER, signature })).toContain(`Must be of the wallet ${OTHER}`)
  expect(await shows(owner, grouped(WALLET), 'A signature proved')).toEqual([true, false])
  expect((await ask(owner, HOLDER.address, { signature })).to).toBe(PATH)
  expect(await shows(owner, grouped(HOLDER.address), 'A signature proved')).toEqual([true, true])
  await ask(owner, OTHER)
  expect(await shows(owner, grouped(OTHER), 'A signature proved')).toEqual([true, false])
})

test('in live mode a change waits a day: payments created before and meanwhile keep the wallet of then, those after get the new one', async () => {
  const account = await openAccount(live, 'waits@shop.example')
  const { owner, key, pay, tenant } = account
  const destinations = async (): Promise<string[]> =>
    (
      await live.db.query('select destination from payment where merchant_id = $1 order by id', [tenant.merchantId])
    ).rows.map((row) => String(row.destination))
  const payment = { amount: 10, currency: 'EUR' }
  await pay(payment)
  expect((await ask(owner, OTHER)).to).toBe(PATH)
  await pay(payment)
  expect(await shows(owner, 'Your wallet changes in', grouped(WALLET), grouped(OTHER))).toEqual([true, true, true])
  const { html } = await owner.get(PATH)
  expect(Number(/data-left="(\d+)"/.exec(html)?.[1])).toBeGreaterThan(23.9 * 3_600_000)
  const read = await live.ask('GET', '/v1/settings/wallet', { key })
  expect(read.body).toMatchObject({ address: WALLET, change: { address: OTHER, proved: false } })
  // A day later.
  await live.db.query(`update wallet set next_at = now() where merchant_id = $1`, [tenant.merchantId])
  await pay(payment)
  expect(await destinations()).toEqual([WALLET, WALLET, OTHER])
  expect(await shows(owner, 'Your wallet changes in', grouped(OTHER))).toEqual([false, true])
})

test('everybody is told by mail, with a link that stops the change: opening it does nothing, one press stops it, once', async () => {
  const account = await openAccount(live, 'told@shop.example')
  await addMember(live, account, 'support@shop.example', 'support')
  await ask(account.owner, OTHER)
  expect(await Promise.all([tell(), tell()])).toContain(0)
  const told = (await mailsTo(live, 'support@shop.example')).filter(({ text }) => text.includes('/wallet/stop/'))
  expect([told.length, told[0]?.subject]).toEqual([1, 'Halden Coffee: The wallet is about to change'])
  expect(told[0]?.text).toContain(OTHER)
  const path = await stopPath('support@shop.example')
  const stranger = new Visitor(live)
  expect((await stranger.get(path)).html).toContain('Stop this change')
  expect((await stranger.get('/wallet/stop/guessed')).status).toBe(404)
  expect((await stranger.post(path, {}, { origin: 'https://evil.example' })).status).toBe(403)
  expect(await shows(account.owner, 'Your wallet changes in')).toEqual([true])
  expect((await stranger.post(path)).html).toContain('The change is stopped')
  expect((await stranger.post(path)).status).toBe(404)
  expect(
    await shows(
      account.owner,
      'Your wallet changes in',
      grouped(WALLET),
      'A change was stopped from a mail by support@',
    ),
  ).toEqual([false, true, true])
  await tell()
  expect((await mailsTo(live, 'told@shop.example')).at(-1)?.subject).toContain('The change of the wallet was stopped')
})

test('a link stops the change that it was sent for, and no later one; everybody of the team and a live key may stop it too', async () => {
  const account = await openAccount(live, 'later@shop.example')
  const viewer = await addMember(live, account, 'looks@shop.example', 'viewer')
  await ask(account.owner, OTHER)
  await tell()
  const old = await stopPath('later@shop.example')
  expect((await viewer.submit(`${PATH}/stop`)).to).toBe(PATH)
  await ask(account.owner, HOLDER.address)
  expect((await account.owner.post(old)).status).toBe(404)
  expect(await shows(viewer, grouped(HOLDER.address))).toEqual([true])
  const stopped = await live.ask('POST', '/v1/settings/wallet/stop_change', { key: account.key })
  expect([stopped.status, stopped.body['change']]).toEqual([200, null])
  const again = await live.ask('POST', '/v1/settings/wallet/stop_change', { key: account.key })
  expect(again.status).toBe(200)
  const put = await live.ask('PUT', '/v1/settings/wallet', { key: account.key, body: { address: OTHER } })
  expect([put.status, put.body['page']]).toEqual([403, `https://pay.pinrail.example${PATH}`])
})

test('the address of now in place of a change that waits stops it', async () => {
  const { owner } = await openAccount(live, 'same@shop.example')
  await ask(owner, OTHER)
  await ask(owner, WALLET)
  expect(await shows(owner, 'Your wallet changes in', grouped(WALLET))).toEqual([false, true])
})
