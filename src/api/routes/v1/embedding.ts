import { z } from 'zod'
import {
  readEmbedding as readStoredEmbedding,
  setEmbedding as setStoredEmbedding,
} from '../../../db/merchants/embedding.ts'
import { MOST_ORIGINS, readOrigin } from '../../../domain/account/origin.ts'
import { Problem } from '../../http/problems.ts'
import { defineOperation } from '../../operation.ts'
import { extendJsonSchema, ORIGIN } from './patterns.ts'
import { requireTestKey, type StepUp, TEST_KEYS_ONLY } from './step-up.ts'

/** A program must send an origin as documented, without a path. */
const ORIGIN_PATTERN = new RegExp(ORIGIN)

const ORIGINS = ['https://shop.example', 'https://www.shop.example']

const embeddingBody = z.strictObject({
  origins: z
    .array(
      z
        .string()
        .max(253)
        .meta(extendJsonSchema({ pattern: ORIGIN })),
    )
    .max(MOST_ORIGINS)
    .meta({ description: 'The whole list: it replaces the previous one. Empty: nobody can embed.' }),
})

const embeddingObject = z
  .strictObject({
    object: z.literal('embedding'),
    origins: z.array(z.string()).meta({ description: 'Such as `https://shop.example`, sorted.' }),
  })
  .meta({ id: 'Embedding', examples: [{ object: 'embedding', origins: ORIGINS }] })

export const readEmbedding = defineOperation({
  name: 'readEmbedding',
  method: 'get',
  path: '/v1/settings/embedding',
  tag: 'Settings',
  summary: 'Read which sites can embed your checkout',
  scope: 'settings:read',
  answers: { 200: embeddingObject },
  handle: async ({ caller, db }) => ({ status: 200, body: shown(await readStoredEmbedding(db, caller.merchantId)) }),
})
export const setEmbedding = defineOperation({
  name: 'setEmbedding',
  method: 'put',
  path: '/v1/settings/embedding',
  tag: 'Settings',
  summary: 'Set which sites can embed your checkout',
  description: `${TEST_KEYS_ONLY} Each mode has its own list.`,
  scope: 'settings:write',
  audited: ({ origins }) => ({ origins: origins.map((text) => new URL(text).origin) }),
  body: embeddingBody,
  answers: { 200: embeddingObject },
  problems: ['step_up_required'],
  example: { body: { origins: ORIGINS } },
  handle: async ({ caller, db, body }, deps: StepUp) => {
    // A leaked live key must not add another site.
    requireTestKey(deps, caller, 'embedding')
    const read = (text: string) => (ORIGIN_PATTERN.test(text) ? readOrigin(text, caller) : null)
    const origins = body.origins.map((text, index) => read(text) ?? refuse(caller.livemode, index))
    return { status: 200, body: shown(await setStoredEmbedding(db, caller.merchantId, [...new Set(origins)].sort())) }
  },
})

function refuse(livemode: boolean, index: number): never {
  const also = livemode ? '' : '; in test mode also http://localhost and http://127.0.0.1'
  const message = `origins: must each be a URL with https, such as https://shop.example, without a wildcard${also}.`
  throw new Problem('validation_failed', message, {
    param: `origins[${index}]`,
    errors: [{ pointer: `/origins/${index}`, code: 'url_invalid', message }],
  })
}

function shown(origins: readonly string[]) {
  return { object: 'embedding' as const, origins: [...origins] }
}
