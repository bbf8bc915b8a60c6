import { z } from 'zod'
import {
  type ListedRequest,
  listRequests as listStoredRequests,
  readRequest as readStoredRequest,
} from '../../../../db/merchants/requests.ts'
import { isId } from '../../../../domain/ids.ts'
import { LOGGED_REQUEST, LOGGED_REQUEST_WITH_BODIES } from '../../../document/account-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath, moment } from '../fields.ts'
import { listAnswer, listSchema, noCursor, pageQuery, readPage, searched } from '../lists.ts'

/** The log of requests that were made with keys of the account, which the dashboard shows too. */

const fields = {
  id: z.string().meta({ description: 'The `request-id` of the response.' }),
  object: z.literal('request'),
  key: z.string().meta({ description: 'The id of the API key.' }),
  key_name: z.string().nullable().meta({ description: 'Null: the key no longer exists.' }),
  method: z.string().meta({ description: 'The method of the request.' }),
  path: z.string().meta({ description: 'With the query. Secrets and e-mail addresses are removed.' }),
  status: z.int().meta({ description: 'The status of the response.' }),
  duration_ms: z.int().meta({ description: 'Milliseconds until the response.' }),
  code: z.string().nullable().meta({ description: 'The `code` of an error.' }),
  at: moment.meta({ description: 'When it arrived (RFC 3339, UTC).' }),
}

const requestObject = z.strictObject(fields).meta({ id: 'LoggedRequest', examples: [LOGGED_REQUEST] })
const requestWithBodies = z
  .strictObject({
    ...fields,
    request_body: z
      .string()
      .nullable()
      .meta({ description: 'What you sent, without secrets. Null: a read that worked, or nothing was stored.' }),
    response_body: z.string().nullable().meta({ description: 'What you got, in the same way.' }),
  })
  .meta({ id: 'LoggedRequestWithBodies', examples: [LOGGED_REQUEST_WITH_BODIES] })

const query = z.strictObject({
  ...pageQuery('request'),
  path: searched.optional().meta({ description: 'Only requests with this text in their path.' }),
  key: searched.optional().meta({ description: 'Only requests with this key: its id or its whole name.' }),
  errors: z.enum(['true']).optional().meta({ description: '`true`: only requests with the status 400 or above.' }),
})

export const listRequests = defineOperation({
  name: 'listRequests',
  method: 'get',
  path: '/v1/requests',
  tag: 'API keys',
  summary: 'List the requests of your programs, newest first',
  description: 'Of the last 30 days. A request is in the list a moment after its response.',
  scope: 'audit:read',
  query,
  answers: { 200: listSchema(requestObject) },
  example: { query: { limit: '10', errors: 'true' } },
  handle: async ({ caller, db, query: asked }) => {
    const page = readPage(asked)
    const { path, key, errors } = asked
    const search = { path, key: key?.replace(/^key_/, ''), errors: errors === 'true' }
    const found = await listStoredRequests(db, caller, { search, page })
    if (found === null) throw noCursor(page)
    return listAnswer(found.rows.map(shown), found.hasMore)
  },
})

export const readRequest = defineOperation({
  name: 'readRequest',
  method: 'get',
  path: '/v1/requests/{id}',
  tag: 'API keys',
  summary: 'Read a request of your programs',
  scope: 'audit:read',
  params: idPath,
  answers: { 200: requestWithBodies },
  handle: async ({ caller, db, params: { id } }) => {
    const found = isId('request', id) ? await readStoredRequest(db, caller, id) : null
    if (found === null) throw new Problem('resource_missing', 'There is no such request in the log.')
    return { status: 200, body: { ...shown(found), request_body: found.sent, response_body: found.answered } }
  },
})

function shown(row: ListedRequest): z.output<typeof requestObject> {
  const { id, key_id, key_name, method, path, status, duration_ms, code, at } = row
  return { id, object: 'request', key: `key_${key_id}`, key_name, method, path, status, duration_ms, code, at }
}
