import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import express from 'express'
import { pino } from 'pino'
import { z } from 'zod'
import { BOX_KEY, TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { queueMail } from '../../src/api/accounts/mails.ts'
import { readWorkerConfig } from '../../src/config/config.ts'
import { createDb, type Db, one, sql } from '../../src/db/db.ts'
import { composeMail } from '../../src/deps/notify/mail.ts'
import { newId } from '../../src/ids.ts'
import { createMailSender, type MailSender } from '../../src/notify/mail.ts'
import { type Mailbox, openMailbox, type ReceivedMail } from '../../src/sandbox/inbox/mailbox.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { sendDueMail } from '../../src/worker/notify/mail-round.ts'
import { createWorkWakeups } from '../../src/worker/work-look.ts'
import { listen } from '../partners/sandbox-server.ts'
import { browse } from '../support/browse.ts'
import { PLATFORM } from '../support/platforms.ts'

const log = pino({ level: 'silent' })
const box = createSecretBox(BOX_KEY)
let database: TestDatabase
let db: Db
let folder: string
let mailbox: Mailbox
let inbox: Server
let inboxUrl: string
let sender: MailSender
let now = Date.UTC(2026, 10, 22)
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 4 })
  folder = await mkdtemp(join(tmpdir(), 'mailbox-'))
  mailbox = await openMailbox({ host: '127.0.0.1', port: 0, dataFile: join(folder, 'mails.jsonl'), log })
  inbox = createServer(express().use(mailbox.router))
  inboxUrl = await listen(inbox)
  const url = `smtp://127.0.0.1:${mailbox.port}`
  sender = createMailSender({ url, from: 'Pinrail <pinrail@shop.example>', platform: PLATFORM })
})
afterAll(async () => {
  sender?.close()
  inbox?.close()
  await mailbox?.close()
  await db?.close()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

const LINK_MS = 900_000
const NOTICE_MS = 3 * 86_400_000
const INVITATION_MS = 7 * 86_400_000

async function queue(to: string, text = 'Hello', worthMs = LINK_MS): Promise<string> {
  const id = newId('mail')
  const times = { now: new Date(now).toISOString(), expiresAt: new Date(now + worthMs).toISOString() }
  await queueMail({ secretBox: box, newMailId: () => id }, db, { mail: { to, subject: 'Süß', text }, ...times })
  return id
}

const round = (send: MailSender['send'] = (mail) => sender.send(mail)): Promise<number> =>
  sendDueMail({ db, open: (sealed, id) => box.open(sealed, id), send, clock: () => now, log })

async function received(to: string): Promise<ReceivedMail[]> {
  const mails = (await browse(inboxUrl).get('/mails')).body as ReceivedMail[]
  return mails.filter((mail) => mail.to.includes(to))
}

const stateRow = z.object({ sealed: z.string().nullable(), failure: z.string().nullable(), tries: z.number() })
const readState = (id: string) => one(db, stateRow, sql`select sealed, failure, tries from mail where id = ${id}`)

test('a mail arrives once at the server of the address as it was written, and its content is wiped', async () => {
  const text = `Grüße: https://shop.example/sign-in/link/${'x'.repeat(120)}\n\nZweite Zeile\n`
  const id = await queue('one@shop.example', text)
  await Promise.all([round(), round(), round()])
  const mails = await received('one@shop.example')
  expect(mails.map((mail) => [mail.subject, mail.text, mail.message_id])).toEqual([
    ['Süß', expect.stringContaining(text), `<${id}@pinrail.mail>`],
  ])
  expect(await readState(id)).toEqual({ sealed: null, failure: null, tries: 1 })
  const page = await browse(inboxUrl).get('/mail')
  expect(page.text).toContain('href="https://shop.example/sign-in/link/')
})

test('a mail ends with the name and the addresses of the platform', async () => {
  await queue('foot@shop.example', 'Hello\n')
  await round()
  const [mail] = await received('foot@shop.example')
  expect(mail?.text.trimEnd().split('\n')).toEqual([
    'Hello',
    '',
    '-- ',
    'Quayline Payments',
    'https://quayline.example/imprint',
    'https://quayline.example/terms',
    'https://quayline.example/privacy',
    'https://status.quayline.example',
    'help@quayline.example',
  ])
})

test('a mail that the server refuses is tried again, after a pause, and delays no other mail', async () => {
  const [id, other] = [await queue('two@shop.example'), await queue('three@shop.example')]
  const refuses: MailSender['send'] = async (mail) => {
    if (mail.id === id)
      throw Object.assign(new Error('two@shop.example is busy'), { code: 'EENVELOPE', responseCode: 450 })
    await sender.send(mail)
  }
  expect(await round(refuses)).toBe(1)
  expect(await received('three@shop.example')).toHaveLength(1)
  expect(await readState(other)).toMatchObject({ sealed: null })
  expect(await readState(id)).toMatchObject({ failure: 'EENVELOPE 450', tries: 1 })
  expect(await round()).toBe(0)
  now += 6_000
  expect(await round()).toBe(1)
  expect(await received('two@shop.example')).toHaveLength(1)
})

test('a sender that dies between claiming and sending loses nothing: another sends the mail later', async () => {
  const id = await queue('four@shop.example')
  const dies: MailSender['send'] = () => Promise.reject(new Error('killed'))
  await round(dies)
  now += 121_000
  expect(await round()).toBe(1)
  expect(await received('four@shop.example')).toHaveLength(1)
  expect(await readState(id)).toMatchObject({ sealed: null, failure: null })
})

test('a mail whose link has expired is not sent any more, and records the reason', async () => {
  const id = await queue('five@shop.example')
  now += 901_000
  expect(await round()).toBe(0)
  expect(await received('five@shop.example')).toEqual([])
  expect(await readState(id)).toMatchObject({ sealed: null, failure: 'nobody sent it in time' })
})

test('a mail that was written before the key changed is sent after it, by a worker with the old key as a retired one', async () => {
  const id = await queue('rotated@shop.example')
  const digits = (): string => `0x${randomBytes(32).toString('hex')}`
  const config = readWorkerConfig({
    ...TEST_ENVIRONMENT,
    DATABASE_URL: database.url,
    TREASURY_KEY: digits(),
    RELAYER_KEYS: digits(),
    SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`,
    WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    RETIRED_WEBHOOK_ENCRYPTION_KEYS: BOX_KEY,
  })
  const mails = composeMail(config, { db, log, clock: () => now, wakeups: createWorkWakeups() })
  try {
    await mails.loops.find(({ name }) => name === 'mail')?.tick()
  } finally {
    mails.close()
  }
  expect(await received('rotated@shop.example')).toHaveLength(1)
  expect((await readState(id)).sealed).toBeNull()
})

test('a link to sign in is sent before any number of earlier mails that can wait', async () => {
  for (let count = 0; count < 25; count++) await queue('many-mails@shop.example', 'A key was created', NOTICE_MS)
  now += 1000
  const id = await queue('signs-in@shop.example')
  await round()
  expect((await readState(id)).sealed).toBeNull()
  while ((await round()) > 0);
})

test('mails that their box refuses again and again delay no untried mail', async () => {
  for (let count = 0; count < 25; count++) await queue('full@shop.example', 'A key was created', NOTICE_MS)
  const refuses: MailSender['send'] = async (mail) => {
    if (mail.to === 'full@shop.example')
      throw Object.assign(new Error('full'), { code: 'EENVELOPE', responseCode: 552 })
    await sender.send(mail)
  }
  for (let count = 0; count < 2; count++) await round(refuses)
  now += 121_000
  const id = await queue('notified@shop.example', 'The wallet is to be changed', NOTICE_MS)
  await round(refuses)
  expect((await readState(id)).sealed).toBeNull()
})

test('an invitation waits for no later mails, although it is valid for longer', async () => {
  const id = await queue('invited@shop.example', 'You are invited', INVITATION_MS)
  now += 1000
  for (let count = 0; count < 25; count++) await queue('many-mails@shop.example', 'A key was created', NOTICE_MS)
  await round()
  expect((await readState(id)).sealed).toBeNull()
  while ((await round()) > 0);
})

test('a mail that failed once is tried again while others are written without end', async () => {
  now += 3600_000
  while ((await round()) > 0);
  const id = await queue('failed@shop.example', 'The wallet is to be changed', NOTICE_MS)
  await round(() => Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNECTION' })))
  expect(await readState(id)).toMatchObject({ failure: 'ECONNECTION', tries: 1 })
  for (let count = 0; count < 25; count++) await queue('many-mails@shop.example', 'A key was created', NOTICE_MS)
  now += 6000
  await round()
  expect((await readState(id)).sealed).toBeNull()
  while ((await round()) > 0);
})
