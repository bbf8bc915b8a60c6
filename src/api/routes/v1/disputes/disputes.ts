import { z } from 'zod'
import type { Session, Tenant } from '../../../../db/db.ts'
import {
  listDisputes as listStoredDisputes,
  readDispute as readStoredDispute,
} from '../../../../db/disputes/disputes.ts'
import type { Dispute } from '../../../../domain/dispute/dispute.ts'
import { renderDispute } from '../../../../domain/dispute/dispute-object.ts'
import { isId, typeId } from '../../../../domain/ids.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { listAnswer, listSchema, pageQuery, readPage } from '../lists.ts'
import { disputeObject, disputeStatus } from './dispute-schemas.ts'

export const listDisputes = defineOperation({
  name: 'listDisputes',
  method: 'get',
  path: '/v1/disputes',
  tag: 'Disputes',
  summary: 'List disputes, newest first',
  scope: 'payments:read',
  query: z.strictObject({
    ...pageQuery('dispute'),
    status: disputeStatus.optional(),
    payment: z.string().regex(typeId('payment'), 'must be the id of a payment').optional(),
  }),
  answers: { 200: listSchema(disputeObject) },
  handle: async ({ caller, db, query }) => {
    const { rows, hasMore } = await listStoredDisputes(db, caller, { filters: query, page: readPage(query) })
    return listAnswer(rows.map(renderDispute), hasMore)
  },
})

export const readDispute = defineOperation({
  name: 'readDispute',
  method: 'get',
  path: '/v1/disputes/{id}',
  tag: 'Disputes',
  summary: 'Read a dispute',
  scope: 'payments:read',
  params: idPath,
  answers: { 200: disputeObject },
  handle: async ({ caller, db, params }) => ({
    status: 200,
    body: renderDispute(await loadDispute(db, caller, params.id)),
  }),
})

/** One `resource_missing` (404) for malformed and unknown ids, and for disputes of other accounts. */
export async function loadDispute(db: Session, tenant: Tenant, id: string): Promise<Dispute> {
  const found = isId('dispute', id) ? await readStoredDispute(db, tenant, id) : null
  if (found === null) throw new Problem('resource_missing', 'There is no such dispute.')
  return found
}
