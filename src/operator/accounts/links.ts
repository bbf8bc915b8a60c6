import { leaveNotice } from '../../db/accounts/account-notices.ts'
import { findLinkAnywhere, listReported, resumeLink, stopLink } from '../../db/links/reports.ts'
import { recordAction } from '../../db/operator/actions.ts'
import type { PaymentLink } from '../../domain/link/link.ts'
import { type CommandContext, columns, Refusal, readLimit, signedBy } from '../call.ts'

const USUAL_LINES = 50

export async function listReports(context: CommandContext): Promise<number> {
  const { db, say, give } = context
  const links = await listReported(db, readLimit(context, USUAL_LINES))
  give('links', links)
  if (links.length === 0) {
    say('nobody has reported a link')
    return 0
  }
  const rows = links.map(
    ({ id, title, reports, reason, at, stopped_at: stopped }) =>
      [id, reports, reason, at, stopped === null ? 'open' : 'stopped', title] as const,
  )
  for (const line of columns([['link', 'reports', 'last', 'at', 'state', 'title'], ...rows])) say(line)
  return 1
}

/** Stops new payments of the link. Its existing payments continue. */
export async function stopOneLink(context: CommandContext): Promise<number> {
  const signed = signedBy(context)
  const link = await findLink(context)
  const tenant = { merchantId: link.merchantId, livemode: link.livemode }
  const stopped = await context.db.transaction(async (tx) => {
    if (!(await stopLink(tx, link.id, signed.reason))) return false
    await recordAction(tx, tenant, { ...signed, kind: 'payment_link.stopped', data: { link: link.id } })
    await leaveNotice(tx, tenant, { kind: 'payment_link.stopped', data: { link: link.id, title: link.title } })
    return true
  })
  context.say(
    stopped ? `stopped ${link.id}: it takes no more payments` : `nothing changed: ${link.id} is stopped already`,
  )
  return stopped ? 0 : 1
}

export async function resumeOneLink(context: CommandContext): Promise<number> {
  const signed = signedBy(context)
  const link = await findLink(context)
  const tenant = { merchantId: link.merchantId, livemode: link.livemode }
  const resumed = await context.db.transaction(async (tx) => {
    if (!(await resumeLink(tx, link.id))) return false
    await recordAction(tx, tenant, { ...signed, kind: 'payment_link.resumed', data: { link: link.id } })
    await leaveNotice(tx, tenant, { kind: 'payment_link.resumed', data: { link: link.id, title: link.title } })
    return true
  })
  context.say(resumed ? `resumed ${link.id}` : `nothing changed: ${link.id} is not stopped`)
  return resumed ? 0 : 1
}

/** The link's id, its code or its URL. */
async function findLink({ db, subjects: [text = ''] }: CommandContext): Promise<PaymentLink> {
  const name = text.replace(/^.*\/l\//, '').replace(/[?#/].*$/, '')
  const link = await findLinkAnywhere(db, name)
  if (link === null) throw new Refusal(`there is no link ${text}: give its id, its code or its address`)
  return link
}
