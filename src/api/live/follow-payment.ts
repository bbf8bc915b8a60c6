import type { Request, Response } from 'express'
import { linkToken, PageProblem } from '../routes/page-problem.ts'
import type { OpenPages } from './open-pages.ts'

export type FollowDeps = {
  readonly openPages: OpenPages
  /** The payment behind a link; null without one. */
  readonly findPayment: (token: string) => Promise<string | null>
}

/** News of the payment for an open page, which says what it knows; a browser that comes back says what it heard last. */
export async function followPayment(deps: FollowDeps, request: Request, response: Response): Promise<void> {
  const paymentId = await deps.findPayment(linkToken(request))
  if (paymentId === null) throw new PageProblem('not_found')
  const { knows } = request.query
  const heard = request.get('last-event-id') ?? (typeof knows === 'string' ? knows : null)
  if (request.method === 'GET' && deps.openPages.follow(response, { paymentId, knows: heard })) return
  response.set('retry-after', '30')
  throw new PageProblem('unavailable')
}
