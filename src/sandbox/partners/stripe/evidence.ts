import type { Request, Router } from 'express'
import { formBody, jsonReply, perform, type Reply, write } from '../answer.ts'
import { type SandboxOrder, withDisputeAccepted, withEvidence } from '../order.ts'
import type { ApiDeps } from '../wire.ts'
import { dispute, SESSION_ID } from './objects.ts'

type Replies = {
  readonly replay: (request: Request, effect: () => Promise<Reply>) => Promise<Reply>
  readonly absent: () => Reply
  readonly refuse: (code: string) => Reply
}

/** Takes evidence as Stripe does: files, texts, or that the dispute is accepted. */
export function evidenceRoutes(router: Router, { book, faults }: ApiDeps, { replay, absent, refuse }: Replies): void {
  const find = (id: string): Promise<SandboxOrder | null> => book.findByReference(id.replace(/^du_/, SESSION_ID))
  const show = (order: SandboxOrder | null): Reply =>
    order === null || order.dispute === null ? absent() : jsonReply(200, dispute(order, order.dispute))

  router.post('/v1/files', async (request, response) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const text = body.toString('latin1')
    const isWhole = text.includes('name="purpose"\r\n\r\ndispute_evidence') && text.includes('name="file"; filename=')
    const id = `file_${(request.get('idempotency-key') ?? '').replaceAll(/\W/g, '')}`
    await perform({ response, faults, operation: 'evidence', key: '' }, () =>
      replay(request, async () =>
        isWhole
          ? jsonReply(200, { id, object: 'file', purpose: 'dispute_evidence', size: body.length })
          : refuse('parameter_missing'),
      ),
    )
  })
  router.get('/v1/disputes/:id', async (request, response) => {
    write(response, show(await find(request.params.id)))
  })
  router.post('/v1/disputes/:id', async (request, response) => {
    const order = await find(request.params.id)
    await perform({ response, faults, operation: 'evidence', key: order?.attemptId ?? '' }, () =>
      replay(request, async () => {
        if (order === null) return absent()
        const evidence = readEvidence(formBody(request))
        const made = await book.update(order.attemptId, (known) => withEvidence(known, evidence))
        return made === null ? refuse('dispute_evidence_submitted') : show(made)
      }),
    )
  })
  router.post('/v1/disputes/:id/close', async (request, response) => {
    const order = await find(request.params.id)
    await perform({ response, faults, operation: 'evidence', key: order?.attemptId ?? '' }, () =>
      replay(request, async () => {
        if (order === null) return absent()
        const made = await book.update(order.attemptId, withDisputeAccepted)
        return made === null ? refuse('dispute_closed') : show(made)
      }),
    )
  })
}

function readEvidence(form: Readonly<Record<string, string>>) {
  const fields = Object.keys(form).flatMap((name) => /^evidence\[(\w+)\]$/.exec(name)?.[1] ?? [])
  return {
    key: form['metadata[answer]'] ?? '',
    submit: form['submit'] === 'true',
    fields,
    text: form['evidence[uncategorized_text]'] ?? '',
  }
}
