import { isUtf8 } from 'node:buffer'
import express, { type NextFunction, type Request, type Response } from 'express'
import { Problem } from './problems.ts'

/** 64 KiB, counted after decompression. */
const BODY_LIMIT = '64kb'
/** For a body with documents in base64: `MOST_EVIDENCE_BYTES` and the texts. */
const DOCUMENTS_LIMIT = '6mb'
const MAX_DEPTH = 8

type Reader = typeof readJson

/** Parses a JSON body in UTF-8 into `request.body`. If a name occurs twice in an object, the last value counts. */
export const readJson = createReader(BODY_LIMIT)
export const readDocuments: Reader = createReader(DOCUMENTS_LIMIT)

function createReader(limit: string) {
  const raw = express.raw({ limit, type: () => true })
  return (request: Request, response: Response, next: NextFunction): void => read(raw, { request, response, next })
}

type Reading = { readonly request: Request; readonly response: Response; readonly next: NextFunction }

function read(raw: ReturnType<typeof express.raw>, { request, response, next }: Reading): void {
  const problem = wrongType(request.get('content-type') ?? '') ?? wrongEncoding(request.get('content-encoding'))
  if (problem !== null) {
    next(problem)
    return
  }
  raw(request, response, (error?: unknown) => {
    if (error !== undefined) {
      next(error)
      return
    }
    try {
      request.body = parseJson(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
      next()
    } catch (failure) {
      next(failure)
    }
  })
}

function wrongType(header: string): Problem | null {
  const [type, ...parameters] = header
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  if (type !== 'application/json') return new Problem('unsupported_media_type', 'Send the body as application/json.')
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  if (charset === undefined || charset.replaceAll('"', '') === 'utf-8') return null
  return new Problem('unsupported_media_type', 'The charset must be utf-8 or absent.')
}

/** A fixed list, because newer versions of Node decode more (zstd since 22.15). */
const ENCODINGS = ['identity', 'gzip', 'deflate', 'br']

function wrongEncoding(header: string | undefined): Problem | null {
  if (ENCODINGS.includes((header || 'identity').toLowerCase())) return null
  return new Problem('unsupported_media_type', `content-encoding must be one of ${ENCODINGS.join(', ')}.`)
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Problem('invalid_json', 'The body must not be empty. Send a JSON object.')
  if (!isUtf8(bytes)) throw new Problem('invalid_json', 'The body must be valid UTF-8.')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new Problem('invalid_json', 'The body must be valid JSON.')
  }
  refuseStrange(value)
  return value
}

/** No recursion: a deeply nested body must not exhaust the stack. */
function refuseStrange(value: unknown): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new Problem('validation_failed', `The body must be nested at most ${MAX_DEPTH} deep.`)
    const objects = level.filter((item) => typeof item === 'object' && item !== null)
    // Copying an object with such a field would set the copy's prototype and lose the field.
    if (objects.some((item) => Object.hasOwn(item, '__proto__')))
      throw new Problem('validation_failed', 'A field must not be named __proto__.')
    level = objects.flatMap((item) => Object.values(item))
  }
}
