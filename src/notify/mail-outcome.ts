import type { Outcome } from '../domain/notification/channel.ts'

/** Codes of nodemailer if nothing of the mail was sent. A connection that closes later has other codes. */
const BEFORE_THE_MAIL = ['EDNS', 'ETLS', 'EAUTH', 'ENOAUTH', 'EOAUTH2']

/**
 * Returns the meaning of a mail server's answer (RFC 5321, 4.2.1). Only its code is stored: servers repeat addresses.
 */
export async function mailOutcome(send: () => Promise<void>): Promise<Outcome> {
  try {
    await send()
    return { kind: 'accepted', pauseSeconds: 0 }
  } catch (error) {
    const { code, status, command, syscall } = readError(error)
    const reason = `the mail server responded ${status}`
    if (status >= 500) return { kind: 'refused', what: command === 'DATA' ? 'message' : 'channel', reason }
    if (status >= 400) return { kind: 'not_taken', reason }
    if (syscall === 'connect' || BEFORE_THE_MAIL.includes(code))
      return { kind: 'not_taken', reason: `no mail server responded (${code})` }
    return { kind: 'unknown', reason: `the mail server did not confirm that it accepted the mail (${code})` }
  }
}

function readError(error: unknown): { code: string; status: number; command: string; syscall: string } {
  if (!(error instanceof Error)) return { code: 'unknown', status: 0, command: '', syscall: '' }
  const fields = error as { code?: unknown; responseCode?: unknown; command?: unknown; syscall?: unknown }
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {
    code: text(fields.code) || error.name,
    status: typeof fields.responseCode === 'number' ? fields.responseCode : 0,
    command: text(fields.command),
    syscall: text(fields.syscall),
  }
}
