import { z } from 'zod'
import { type AuditEntry, listAuditPage } from '../../../../db/accounts/audit.ts'
import { AUDIT_ENTRY } from '../../../document/account-examples.ts'
import { defineOperation } from '../../../operation.ts'
import { moment } from '../fields.ts'
import { listAnswer, listSchema, noCursor, pageQuery, readPage, since } from '../lists.ts'

const entryObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('audit_entry'),
    actor: z.string().meta({ description: 'Whose id it is: `per_…` of a person, `key_…` of an API key.' }),
    action: z.string(),
    data: z.record(z.string(), z.unknown()),
    ip: z.string(),
    at: moment,
  })
  .meta({ id: 'AuditEntry', examples: [AUDIT_ENTRY] })

const query = z.strictObject({
  ...pageQuery('audit'),
  action: z
    .string()
    .regex(/^[A-Za-z_.]{1,60}$/, 'must be the name of an action, such as member.invited')
    .optional(),
  actor: z
    .string()
    .regex(/^\w{1,60}$/, 'must be the id of a person or of a key')
    .optional(),
  'created[gte]': since.optional(),
  'created[lt]': since.optional(),
})

export const listAuditLog = defineOperation({
  name: 'listAuditLog',
  method: 'get',
  path: '/v1/audit_log',
  tag: 'Team',
  summary: 'List who changed what and from where, newest first',
  scope: 'audit:read',
  query,
  answers: { 200: listSchema(entryObject) },
  example: { query: { limit: '10', action: 'member.invited' } },
  handle: async ({ caller, db, query: asked }) => {
    const page = readPage(asked)
    const { action, actor } = asked
    const filters = { action, actor, from: asked['created[gte]'], before: asked['created[lt]'] }
    const found = await listAuditPage(db, caller.merchantId, { filters, page })
    if (found === null) throw noCursor(page)
    return listAnswer(found.rows.map(shown), found.hasMore)
  },
})

function shown({ id, ...entry }: AuditEntry): z.output<typeof entryObject> {
  return { id, object: 'audit_entry', ...entry }
}
