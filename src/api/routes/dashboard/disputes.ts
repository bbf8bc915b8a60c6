import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { listDisputes, readDispute } from '../../../db/disputes/disputes.ts'
import { hasAbility } from '../../../domain/account/roles.ts'
import { whyNotAnswerable } from '../../../domain/dispute/answerable.ts'
import { DISPUTE_STATUSES, type Dispute, type DisputeStatus } from '../../../domain/dispute/dispute.ts'
import {
  EVIDENCE_FILES,
  EVIDENCE_TEXTS,
  type EvidenceFileName,
  type EvidenceTextName,
  findMediaType,
} from '../../../domain/dispute/evidence.ts'
import { isId } from '../../../domain/ids.ts'
import { renderDisputePage } from '../../../web/dashboard/disputes/dispute.tsx'
import { disputesHref, renderDisputes } from '../../../web/dashboard/disputes/disputes.tsx'
import type { EvidenceDraft } from '../../../web/dashboard/disputes/evidence-form.tsx'
import { catchRefusal, Problem } from '../../http/problems.ts'
import { toFieldErrors } from '../../http/validation.ts'
import { SiteProblem } from '../site-problem.ts'
import { acceptDispute, type DisputeDeps, submitDisputeEvidence } from '../v1/disputes/dispute-answer.ts'
import { onceField } from './fields.ts'
import { runOperation } from './operations.ts'
import { definePage, type Page, type PageCall } from './page.ts'
import { findNeighbors, readCursors } from './pager.ts'

export type DisputePageDeps = DisputeDeps

const PER_PAGE = 50

const TEXT_NAMES = Object.keys(EVIDENCE_TEXTS) as EvidenceTextName[]
const FILE_NAMES = Object.keys(EVIDENCE_FILES) as EvidenceFileName[]
const STATUSES = Object.keys(DISPUTE_STATUSES) as DisputeStatus[]

/** Texts are trimmed, and are empty if nothing was typed; so are files that were not chosen. */
const evidenceForm = z.object({
  once: onceField,
  submit: z.enum(['yes', 'no']).default('yes'),
  ...Object.fromEntries(TEXT_NAMES.map((name) => [name, z.string().max(100_000).default('')])),
  ...Object.fromEntries(FILE_NAMES.map((name) => [`file_${name}`, z.instanceof(Buffer).default(Buffer.alloc(0))])),
})

/** As much as the API takes, and the texts. */
const UPLOAD_LIMIT = '5mb'

export function disputePages(deps: DisputePageDeps): Page[] {
  return [
    listPage(deps),
    definePage({
      method: 'get',
      path: '/dashboard/disputes/:id',
      needs: 'look',
      handle: async (call) => {
        const problem = call.query['large'] === undefined ? null : 'The files must have at most 4 MB together.'
        return { html: showDispute(deps, call, { dispute: await findDispute(call), problem }) }
      },
    }),
    definePage({
      method: 'post',
      path: '/dashboard/disputes/:id/evidence',
      needs: 'sell',
      form: evidenceForm,
      upload: { tooLarge: ({ id }) => `/dashboard/disputes/${id}?large`, limit: UPLOAD_LIMIT },
      handle: async (call) => submitEvidence(deps, call),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/disputes/:id/accept',
      needs: 'sell',
      form: z.object({ once: onceField }),
      handle: async (call) => {
        const { id } = await findDispute(call)
        const request = { operation: acceptDispute, params: { id }, once: call.form.once }
        const accepted = await catchRefusal(runOperation(deps, call, request))
        if (!(accepted instanceof Problem)) return { to: `/dashboard/disputes/${id}`, done: 'dispute_accepted' }
        const problem = accepted.message
        return { status: 409, html: showDispute(deps, call, { dispute: await findDispute(call), problem }) }
      },
    }),
  ]
}

type EvidenceCall = PageCall<z.output<typeof evidenceForm>>

async function submitEvidence(deps: DisputePageDeps, call: EvidenceCall) {
  const { id } = await findDispute(call)
  const { once, submit } = call.form
  const fields: Readonly<Record<string, unknown>> = call.form
  const draft: EvidenceDraft = Object.fromEntries(
    TEXT_NAMES.map((name) => [name, String(fields[name]).trim()]).filter(([, text]) => text !== ''),
  )
  const files: Readonly<Record<string, Buffer>> = Object.fromEntries(
    FILE_NAMES.flatMap((name) => {
      const file = fields[`file_${name}`]
      return Buffer.isBuffer(file) && file.length > 0 ? [[name, file]] : []
    }),
  )
  const inBase64 = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.toString('base64')]))
  const body = { submit: submit === 'yes', ...draft, files: inBase64 }
  // The log has the names of the fields, and nothing of the evidence.
  const noted = { submit: body.submit, fields: [...Object.keys(draft), ...Object.keys(files)] }
  const request = { operation: submitDisputeEvidence, params: { id }, body, once, noted }
  const sent = await catchRefusal(runOperation(deps, call, request))
  if (!(sent instanceof Problem))
    return {
      to: `/dashboard/disputes/${id}`,
      done: body.submit ? ('evidence_sent' as const) : ('evidence_stored' as const),
    }
  const isField = sent.extras.errors !== undefined
  const errors = isField ? nameFiles(toFieldErrors(sent, 'explanation'), files) : {}
  const dispute = await findDispute(call)
  return {
    status: 400,
    html: showDispute(deps, call, { dispute, draft, errors, problem: isField ? null : sent.message }),
  }
}

/** An error names a field of the API. The files are one field there: the first one that is wrong, or that was chosen. */
function nameFiles(errors: Readonly<Record<string, string>>, files: Readonly<Record<string, Buffer>>) {
  const { files: wrong, ...others } = errors
  if (wrong === undefined) return others
  const names = Object.keys(files)
  const name = names.find((one) => findMediaType(files[one] ?? Buffer.alloc(0)) === null) ?? names[0]
  return { ...others, [`file_${name}`]: wrong }
}

function listPage({ clock, publicUrl }: DisputePageDeps): Page {
  return definePage({
    method: 'get',
    path: '/dashboard/disputes',
    needs: 'look',
    lists: 'at once',
    handle: async ({ db, tenant, frame, query }) => {
      const status = STATUSES.find((known) => known === query['status']) ?? null
      const cursors = readCursors(query, 'dispute')
      const page = { limit: PER_PAGE, ...cursors }
      const filters = { status: status ?? undefined }
      const { rows: disputes, hasMore } = await listDisputes(db, tenant, { filters, page })
      const neighbors = findNeighbors(cursors, { items: disputes, hasMore, href: disputesHref(status) })
      const now = new Date(clock()).toISOString()
      return { html: renderDisputes({ frame, status, disputes, ...neighbors, now, publicUrl }) }
    },
  })
}

async function findDispute({ db, tenant, params }: PageCall): Promise<Dispute> {
  const id = params['id'] ?? ''
  const found = isId('dispute', id) ? await readDispute(db, tenant, id) : null
  if (found === null) throw new SiteProblem('not_found')
  return found
}

type DisputeShown = {
  readonly dispute: Dispute
  readonly draft?: EvidenceDraft
  readonly errors?: Readonly<Record<string, string>>
  readonly problem: string | null
}

function showDispute(
  { clock, publicUrl }: DisputePageDeps,
  { frame, role }: PageCall,
  { dispute, draft = {}, errors = {}, problem }: DisputeShown,
): string {
  const now = new Date(clock()).toISOString()
  return renderDisputePage({
    frame,
    dispute,
    answerable: hasAbility(role, 'sell') && whyNotAnswerable(dispute, now) === null,
    draft,
    errors,
    problem,
    once: randomUUID(),
    now,
    publicUrl,
  })
}
