import { type Applicant, listApplicants } from '../../db/merchants/agreement.ts'
import { listDown } from '../../db/partners/standing.ts'
import { listAttention } from '../../db/payments/attention.ts'
import type { DownReason } from '../../domain/partner/standing.ts'
import { type CommandContext, sayList } from '../call.ts'

/** The entries that have waited longest. */
const MOST = 200

const WHY_DOWN: Readonly<Record<DownReason, string>> = {
  silent: 'it does not respond. It is not offered until it does. Ask the partner whether it has an outage',
  refuses_us: 'it refuses our account or signature. Compare the account and the secret with those at the partner',
  opens_nothing: 'it responds to reads but opens no orders. Ask the partner why; orders are tried again automatically',
}

function formatAge(since: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(since)) / 60_000))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`
}

const describeApplicant = ({ merchantId, name, application }: Applicant): string =>
  `${application?.at}  merchant_waits  ${merchantId} ${name}, ${application?.webAddress}, sells: ${application?.sells}. Decide with \`pinrail merchants approve ${merchantId}\` or \`reject\``

/** Returns 1 if anything waits for an operator. */
export async function showAttention({ db, say, give }: CommandContext): Promise<number> {
  const [waiting, down, applicants] = await Promise.all([
    listAttention(db, MOST),
    listDown(db),
    listApplicants(db, MOST),
  ])
  const all = waiting.length + down.length + applicants.length
  give('attention', waiting)
  give('partners_down', down)
  give('applicants', applicants)
  if (all === 0) say('nothing needs attention')
  for (const { partner, why, since } of down) say(`${since}  partner_down  ${partner}: ${WHY_DOWN[why]}`)
  for (const applicant of applicants) say(describeApplicant(applicant))
  if (waiting.length > 0)
    sayList(say, {
      none: '',
      head: ['age', 'kind', 'amount', 'merchant', 'payment', 'attempt', 'detail'],
      rows: waiting.map(({ since, kind, amount, currency, merchantId, paymentId, attemptId, detail }) => [
        formatAge(since, Date.now()),
        kind,
        `${amount} ${currency}`,
        merchantId,
        paymentId,
        attemptId,
        detail,
      ]),
    })
  if (waiting.length === MOST) say(`… the ${MOST} that have waited longest`)
  return all === 0 ? 0 : 1
}
