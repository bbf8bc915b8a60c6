import nodemailer from 'nodemailer'

export type Mail = {
  /** The same at every try, so that a mail box that gets a mail twice can tell. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export type MailSender = {
  /** Resolves when the server has taken the mail. Rejects otherwise, also when it is not known: then it is sent again. */
  send(mail: Mail): Promise<void>
  close(): void
}

/** Milliseconds: a mail server that is silent holds up the mails of its round no longer than this. */
const CONNECT_MS = 10_000
const ANSWER_MS = 20_000

export function createMailSender({ url, from }: { url: string; from: string }): MailSender {
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: 3,
    // Whether a mail that got no answer is sent again is decided where it is recorded.
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
        text,
        messageId: `<${id}@pinrail.mail>`,
        // RFC 3834: nobody's holiday notice answers.
        headers: { 'auto-submitted': 'auto-generated' },
      })
    },
    close: () => transport.close(),
  }
}
