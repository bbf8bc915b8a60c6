import { z } from 'zod'
import { readEmbedding, setEmbedding } from '../../../db/merchants/embedding.ts'
import { MOST_ORIGINS, readOrigin } from '../../../domain/account/origin.ts'
import { Problem } from '../../http/problems.ts'
import { defineRoute, type Route } from '../../route.ts'
import { extendJsonSchema, ORIGIN } from './patterns.ts'
import { requireTestKey, type StepUp } from './step-up.ts'

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

/** A leaked live key must not add another site. */
export function embeddingRoutes(deps: StepUp): Route[] {
  const read = defineRoute({
    method: 'get',
    path: '/v1/settings/embedding',
    operationId: 'readEmbedding',
    tag: 'Settings',
    summary: 'Read which sites can embed your checkout',
    scope: 'settings:read',
    answers: { 200: embeddingObject },
    handle: async ({ caller, db }) => ({ status: 200, body: shown(await readEmbedding(db, caller.merchantId)) }),
  })
  const write = defineRoute({
    method: 'put',
    path: '/v1/settings/embedding',
    operationId: 'setEmbedding',
    tag: 'Settings',
    summary: 'Set which sites can embed your checkout',
    description: 'With a key only in test mode; in live mode a signed-in person does it. Each mode has its own list.',
    scope: 'settings:write',
    audited: ({ origins }: z.output<typeof embeddingBody>) => ({
      origins: origins.map((text) => new URL(text).origin),
    }),
    body: embeddingBody,
    answers: { 200: embeddingObject },
    problems: ['step_up_required'],
    example: { body: { origins: ORIGINS } },
    handle: async ({ caller, db, body }) => {
      requireTestKey(deps, caller, 'embedding')
      const read = (text: string) => (ORIGIN_PATTERN.test(text) ? readOrigin(text, caller) : null)
      const origins = body.origins.map((text, index) => read(text) ?? refuse(caller.livemode, index))
      return { status: 200, body: shown(await setEmbedding(db, caller.merchantId, [...new Set(origins)].sort())) }
    },
  })
  return [read, write]
}

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
