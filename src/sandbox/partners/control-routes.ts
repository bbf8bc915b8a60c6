import { type Response, Router } from 'express'
import { z } from 'zod'
import { FAILURE_CODES, type FailureCode } from '../../domain/payment/partner.ts'
import { SIMULATED_ACTIONS } from '../../domain/simulation.ts'
import { jsonBody } from './answer.ts'
import { type Faults, faultRequestSchema } from './faults.ts'
import type { OrderBook } from './order-book.ts'

const actSchema = z.strictObject({
  action: z.enum(SIMULATED_ACTIONS),
  receivedMinor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .optional(),
  buyer: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
  seconds: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .optional(),
  failureCode: z.enum(Object.keys(FAILURE_CODES) as [FailureCode, ...FailureCode[]]).optional(),
})

/** Routes with which tests, the demo and the chaos run pay orders and set faults. A real partner has none of them. */
export function controlRoutes({ book, faults }: { readonly book: OrderBook; readonly faults: Faults }): Router {
  const router = Router()
  // Only JSON: a page of another origin could send plain forms and text.
  router.use((request, response, next) => {
    if (request.method !== 'POST' || request.is('application/json') !== false) next()
    else response.status(415).json({ error: 'send application/json' })
  })
  router.get('/orders', async (_request, response) => {
    response.json(await book.list())
  })
  router.get('/orders/:attemptId', async (request, response) => {
    const order = await book.find(request.params.attemptId)
    response.status(order === null ? 404 : 200).json(order ?? { error: 'no such order' })
  })
  router.post('/orders/:attemptId/act', async (request, response) => {
    const wanted = actSchema.safeParse(jsonBody(request))
    if (!wanted.success) return refuse(response, wanted.error)
    const result = await book.act(request.params.attemptId, wanted.data)
    if (result === null) response.status(404).json({ error: 'no such order' })
    else if (result.kind === 'refused')
      response.status(409).json({ error: 'not possible now', status: result.order.status })
    else response.json(result.order)
  })
  faultRoutes(router, faults)
  return router
}

/** Faults are set by POST, listed by GET, and all cleared by DELETE. */
export function faultRoutes(router: Router, faults: Faults): void {
  router.post('/faults', async (request, response) => {
    const wanted = faultRequestSchema.safeParse(jsonBody(request))
    if (!wanted.success) return refuse(response, wanted.error)
    response.status(201).json(await faults.set(wanted.data))
  })
  router.get('/faults', (_request, response) => {
    response.json(faults.list())
  })
  router.delete('/faults', async (_request, response) => {
    await faults.clear()
    response.status(204).end()
  })
}

function refuse(response: Response, error: z.ZodError): void {
  const problems = error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`)
  response.status(400).json({ error: problems.join('; ') })
}
