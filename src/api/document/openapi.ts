import { z } from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { getEventSubject, WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../domain/webhook.ts'
import { IDEMPOTENCY_KEY } from '../http/idempotency.ts'
import { PROBLEMS, type ProblemCode } from '../http/problem-codes.ts'
import { PROBLEM_TYPE } from '../http/problems.ts'
import { type Operation, TAGS } from '../operation.ts'
import { EVENT_OBJECTS } from '../routes/v1/events.ts'
import { describeFields } from './descriptions.ts'
import { LOST_DISPUTE } from './dispute-examples.ts'
import { SWITCHED_OFF } from './endpoint-examples.ts'
import { CHARGED_BACK_PAYMENT, EVENT, PATH_IDS } from './examples.ts'
import { USED_UP } from './link-example.ts'
import { openAnswers } from './open-answers.ts'
import { SUCCEEDED_REFUND } from './refund-examples.ts'
import { RESERVE_RELEASE } from './release-example.ts'

/** The OpenAPI 3.1 document of the operations: generated, never written by hand. */

const problem = z
  .looseObject({
    type: z.url().meta({ description: 'Where the code is explained.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong here, and what to do. For people.' }),
    instance: z.string(),
    code: z
      .enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]])
      .meta({ description: 'Stable. For programs.' }),
    param: z.string().optional(),
    errors: z.array(z.strictObject({ pointer: z.string(), code: z.string(), message: z.string() })).optional(),
    request_id: z.string(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details: the body of every error.' })

/** Problems that every operation can return. */
const COMMON: readonly ProblemCode[] = [
  'validation_failed',
  'invalid_request',
  'invalid_api_key',
  'insufficient_scope',
  'ip_not_allowed',
  'rate_limited',
  'internal_error',
  'temporarily_unavailable',
]
const WITH_BODY: readonly ProblemCode[] = ['invalid_json', 'body_too_large', 'unsupported_media_type']
const WITH_ID: readonly ProblemCode[] = ['resource_missing']

const requestId = z.string().meta({ description: 'Identifies this request. Include it when you contact support.' })
const limits = {
  'RateLimit-Policy': z.string().meta({ description: 'Requests in a window, as in the IETF draft.' }),
  RateLimit: z.string().meta({ description: 'How many are left, and seconds until the window ends.' }),
}

export function openApiDocument(
  operations: readonly Operation[],
  serverUrl: string,
): ReturnType<typeof createDocument> {
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Pinrail',
      version: 'v1',
      description:
        'Charge a buyer in fiat money, receive USDC on Polygon. Amounts are in major units of their currency. Only additive changes are made inside v1.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths: createPaths(operations),
    webhooks: createWebhookPaths(),
    components: {
      schemas: { Problem: problem },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: pinrail_test_… or pinrail_live_….' },
      },
    },
  })
  return openAnswers(describeFields(document))
}

/** Standard Webhooks 1.0. */
function createWebhookPaths(): ZodOpenApiPathsObject {
  const header = z.object({
    'webhook-id': z.string().meta({ description: 'The id of the event, the same in every attempt.' }),
    'webhook-timestamp': z
      .string()
      .regex(/^\d+$/)
      .meta({ description: 'Seconds since 1970, when this attempt was sent.' }),
    'webhook-signature': z.string().meta({
      description:
        '`v1,` and the HMAC-SHA-256 of `<id>.<timestamp>.<body>` in base64. During a rotation there are two, separated by a space.',
    }),
  })
  const answers = {
    '2XX': 'Received. Any other response is retried, twelve times in about three days.',
    '410': 'Gone: the endpoint is disabled.',
  }
  const responses = Object.fromEntries(
    Object.entries(answers).map(([status, description]) => [status, { description }]),
  )
  return Object.fromEntries(
    WEBHOOK_EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `on${type.replace(/(?:^|[._])(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
          tags: ['Webhooks' as const],
          summary: `${getSubject(type).name}: ${type}`,
          security: [],
          requestParams: { header },
          requestBody: {
            required: true,
            content: { 'application/json': { schema: getSubject(type).event, example: exampleOfEvent(type) } },
          },
          responses,
        },
      },
    ]),
  )
}

const SUBJECTS = {
  payment: { name: 'A payment', example: EVENT.data.object, event: EVENT_OBJECTS.payment },
  dispute: { name: 'A dispute', example: LOST_DISPUTE, event: EVENT_OBJECTS.dispute },
  refund: { name: 'A refund', example: SUCCEEDED_REFUND, event: EVENT_OBJECTS.refund },
  reserve: { name: 'A release of reserves', example: RESERVE_RELEASE, event: EVENT_OBJECTS.reserve },
  payment_link: { name: 'A payment link', example: USED_UP, event: EVENT_OBJECTS.payment_link },
  webhook_endpoint: { name: 'A webhook endpoint', example: SWITCHED_OFF, event: EVENT_OBJECTS.webhook_endpoint },
}

const getSubject = (type: WebhookEventType) => SUBJECTS[getEventSubject(type)]

function exampleOfEvent(type: WebhookEventType) {
  const object = type.startsWith('payment.chargeback') ? CHARGED_BACK_PAYMENT : getSubject(type).example
  return { ...EVENT, type, data: { object } }
}

function createPaths(operations: readonly Operation[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {}
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) }
  return paths
}

function describeOperation(operation: Operation): ZodOpenApiOperationObject {
  const { name, tag, summary, description, scope, body, query, params, example } = operation
  const header = operation.method === 'post' ? IDEMPOTENCY : undefined
  const path = params ?? null
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: `${description === undefined ? '' : `${description}\n\n`}Needs the scope \`${scope}\`.`,
    requestParams: {
      ...(path instanceof z.ZodObject && { path: withExamples(path, operation.path) }),
      ...(query instanceof z.ZodObject && { query }),
      ...(header !== undefined && { header }),
    },
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: body, ...(example?.body !== undefined && { example: example.body }) },
        },
      },
    }),
    responses: { ...createAnswers(operation), ...createProblems(operation) },
  }
}

const IDEMPOTENCY = z.object({
  'Idempotency-Key': z
    .string()
    .regex(IDEMPOTENCY_KEY)
    .optional()
    .meta({ description: 'A request with the same key and body gets the first response again, for 30 days.' }),
})

function createAnswers(operation: Operation): ZodOpenApiOperationObject['responses'] {
  return Object.fromEntries(
    Object.entries(operation.answers).map(([status, schema]) => [
      status,
      {
        description: operation.summary,
        headers: z.object({ 'Request-Id': requestId, ...limits }),
        content: {
          'application/json': { schema, example: operation.example?.answer ?? getExample(schema) },
          ...(operation.csv !== undefined && {
            'text/csv': { schema: operation.csv, example: getExample(operation.csv) },
          }),
        },
      },
    ]),
  )
}

function getExample(schema: z.ZodType): unknown {
  const examples = z.globalRegistry.get(schema)?.['examples'] as readonly unknown[] | undefined
  const own = examples?.[0]
  if (own !== undefined) return own
  const item = schema instanceof z.ZodObject ? (schema.shape as { data?: unknown }).data : undefined
  if (!(item instanceof z.ZodArray)) throw new RangeError('an answer must have an example')
  return { object: 'list', data: [getExample(item.element as z.ZodType)], has_more: false }
}

function withExamples(path: z.ZodObject, template: string): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries(path.shape).map(([name, schema]) => {
        const end = template.indexOf(`{${name}}`) + name.length + 2
        return [name, (schema as z.ZodType).meta({ examples: [PATH_IDS[template.slice(0, end)] ?? ''] })]
      }),
    ),
  )
}

const hasCursor = (query: Operation['query']): boolean =>
  query instanceof z.ZodObject && 'starting_after' in query.shape

export function listRefusals(operation: Operation): { own: readonly ProblemCode[]; common: readonly ProblemCode[] } {
  const own: ProblemCode[] = [
    ...(operation.method === 'post' ? (['idempotency_key_reused', 'idempotency_key_in_use'] as const) : []),
    ...(operation.problems ?? []),
  ]
  const common = [
    ...COMMON,
    ...(operation.body === undefined ? [] : WITH_BODY),
    ...(operation.params === undefined && !hasCursor(operation.query) ? [] : WITH_ID),
  ]
  return { own, common }
}

function createProblems(operation: Operation): ZodOpenApiOperationObject['responses'] {
  const { own, common } = listRefusals(operation)
  const codes = new Set([...common, ...own])
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      {
        description: list.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
        headers: z.object({ 'Request-Id': requestId }),
        content: { [PROBLEM_TYPE]: { schema: problem } },
      },
    ]),
  )
}
