import express, { type RequestHandler } from 'express'
import { SiteProblem } from '../routes/site-problem.ts'

type Upload = {
  readonly tooLarge: (params: Readonly<Record<string, string>>) => string
  readonly limit: string
}

/** A request above the limit is redirected to `tooLarge`: nothing of it was read. */
export function readUpload({ tooLarge, limit }: Upload): RequestHandler {
  const raw = express.raw({ limit, type: 'multipart/form-data' })
  return async (request, response, next) => {
    const error = await new Promise<unknown>((resolve) => raw(request, response, resolve))
    if (error instanceof Error && 'status' in error && error.status === 413)
      return response.redirect(303, tooLarge(request.params as Record<string, string>))
    if (error !== undefined) throw error
    if (Buffer.isBuffer(request.body)) request.body = await readFields(request.body, request.get('content-type') ?? '')
    next()
  }
}

async function readFields(body: Buffer, type: string): Promise<Record<string, string | Buffer>> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => Promise.reject(new SiteProblem('bad_request')))
  const fields = await Promise.all(
    [...form].map(async ([name, value]) => [name, typeof value === 'string' ? value : await readBytes(value)] as const),
  )
  return Object.fromEntries(fields)
}

const readBytes = async (file: Blob): Promise<Buffer> => Buffer.from(await file.arrayBuffer())
