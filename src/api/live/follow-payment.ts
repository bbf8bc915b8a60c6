import type { Request, Response } from 'express'
import { linkToken, PageProblem } from '../routes/page-problem.ts'
import type { OpenPages } from './open-pages.ts'

export type FollowDeps = {
  readonly openPages: OpenPages
  readonly findPayment: (token: string) => Promise<string | null>
}

/** The page sends the stamp that it knows; a browser that reconnects sends the last one that it received. */
export async function followPayment(deps: FollowDeps, request: Request, response: Response): Promise<void> {
  const paymentId = await deps.findPayment(linkToken(request))
  if (paymentId === null) throw new PageProblem('not_found')
  const { knows } = request.query
  const lastStamp = request.get('last-event-id') ?? (typeof knows === 'string' ? knows : null)
  if (request.method === 'GET' && deps.openPages.follow(response, { paymentId, knows: lastStamp })) return
  throw new PageProblem('unavailable', '30')
}
