import { once } from 'node:events'
import { Router } from 'express'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { z } from 'zod'
import { plural } from '../../domain/plural.ts'
import type { Logger } from '../../runtime/log.ts'
import { type Html, html, page } from '../html.ts'
import { openJournal } from '../journal.ts'
import { formatTime } from './deliveries-page.ts'
import { createLive, LIVE_SCRIPT_PATH, showLive } from './live.ts'

const mailSchema = z.object({
  received_at: z.iso.datetime(),
  message_id: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  text: z.string(),
})
export type ReceivedMail = z.infer<typeof mailSchema>

/** Maximum number of mails on the page. The JSON has all. */
const SHOWN = 50
const MAX_BYTES = 262_144

export type Mailbox = {
  /** `/mail` for people, `/mails` for programs. */
  readonly router: Router
  readonly port: number
  close: () => Promise<void>
}

/**
 * A mail server on this machine, and a page with the received mails. Mails of a local system never leave the machine.
 * The server speaks SMTP (RFC 5321), so a real system differs only in the server's address.
 */
export async function openMailbox(options: {
  host: string
  port: number
  dataFile: string
  log: Logger
}): Promise<Mailbox> {
  const mails: ReceivedMail[] = []
  const journal = await openJournal(options.dataFile, mailSchema, (mail) => {
    mails.push(mail)
  })
  const live = createLive()
  /** Resolves with the result for the sender: an error, or undefined after the mail is on disk. */
  const keep = async (stream: AsyncIterable<Buffer>, to: string[]): Promise<Error | undefined> => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk)
      await journal.append(await readMail(Buffer.concat(chunks), to))
      live.notify()
      return undefined
    } catch {
      return new Error('the mail could not be kept')
    }
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: MAX_BYTES,
    onData: (stream, session, done) => {
      const to = session.envelope.rcptTo.map(({ address }) => address)
      void answer(keep(stream, to), done)
    },
  })
  server.on('error', (error) => options.log.warn({ err: error }, 'the mail server had trouble with a connection'))
  server.listen(options.port, options.host)
  await once(server.server, 'listening')
  const address = server.server.address()
  const router = Router()
  const { settled } = journal
  showLive(router, live, { list: '/mails', page: '/mail', all: mails, settled, render: () => mailPage(mails) })
  return {
    router,
    port: address !== null && typeof address === 'object' ? address.port : options.port,
    close: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await journal.close()
    },
  }
}

async function answer(kept: Promise<Error | undefined>, done: (error?: Error) => void): Promise<void> {
  done(await kept)
}

async function readMail(bytes: Buffer, to: string[]): Promise<ReceivedMail> {
  const { messageId = '', subject = '', text = '' } = await PostalMime.parse(bytes)
  return { received_at: new Date().toISOString(), message_id: messageId, to, subject, text }
}

function mailPage(mails: readonly ReceivedMail[]): string {
  const first = Math.max(0, mails.length - SHOWN)
  const items = mails.slice(first).map(
    (mail, index) => html`<li id="mail-${(first + index).toString()}">
<p class="line"><b>${mail.subject}</b></p>
<p class="soft">to ${mail.to.join(', ')} · ${formatTime(mail.received_at)}</p>
<p class="mail">${linked(mail.text)}</p>
</li>`,
  )
  return page(
    'Mail inbox',
    html`<h1>Mail inbox</h1>
<p><b data-count role="status">${counted(mails.length)}</b>, the latest first. Nothing leaves this machine. As JSON: <a href="/mails">/mails</a></p>
<ol class="deliveries" data-live="/mails/live">${items.toReversed()}</ol>`,
    LIVE_SCRIPT_PATH,
  )
}

const counted = (count: number): string => plural(count, 'mail')

/** Turns URLs into links, as mail programs do. */
function linked(text: string): Html[] {
  return text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`))
}
