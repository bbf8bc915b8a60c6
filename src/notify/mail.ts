import nodemailer from 'nodemailer'
import { listAddresses, type Platform } from '../domain/platform.ts'

export type Mail = {
  /** The same at every try, so that a mailbox that receives a mail twice can recognize it. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export type MailSender = {
  /**
   * Resolves when the server has accepted the mail. Rejects otherwise, also if that is unknown: then it is sent again.
   */
  send(mail: Mail): Promise<void>
  close(): void
}

/** Milliseconds: a silent mail server delays the mails of its round no longer than this. */
const CONNECT_MS = 10_000
const ANSWER_MS = 20_000

type Options = { readonly url: string; readonly from: string; readonly platform: Platform }

export function createMailSender({ url, from, platform }: Options): MailSender {
  const foot = composeFoot(platform)
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: 3,
    // The code that records a mail decides if it is sent again after no answer.
    maxRequeues: 0,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async ({ id, to, subject, text }) => {
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text: `${text}${foot}`,
        messageId: `<${id}@pinrail.mail>`,
        // RFC 3834: holiday notices must not answer.
        headers: { 'auto-submitted': 'auto-generated' },
      })
    },
    close: () => transport.close(),
  }
}

/** The line before it lets mail programs set the foot apart (RFC 3676, 4.3). */
function composeFoot(platform: Platform): string {
  return ['', '-- ', platform.name, ...listAddresses(platform).map(({ address }) => address), ''].join('\n')
}
