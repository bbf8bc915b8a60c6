import { createHash } from 'node:crypto'
import { readJpeg } from './jpeg.ts'
import { readPng } from './png.ts'
import type { Sides } from './sides.ts'
import { readWebp } from './webp.ts'

/**
 * Pictures from strangers. The bytes decide the type, not the name. A picture is written again from only the parts that
 * are needed to draw it: without place, camera, comments or bytes after its end. SVG is rejected: it is a document that
 * can run scripts.
 */

export type Picture = {
  readonly ok: true
  readonly name: string
  readonly bytes: Buffer
}

export type Refusal = 'too_large' | 'not_a_picture' | 'broken' | 'sides'

/** Bytes. In base64 within JSON such a picture still fits into a body that the API accepts. */
export const MOST_BYTES = 48_000

/** Pixels of a side: fewer look blurred on a good screen, more are never visible. */
const SIDES = { least: 32, most: 1024 }

export const REFUSALS: Readonly<Record<Refusal, string>> = {
  too_large: 'must have at most 48 KB',
  not_a_picture: 'must be a PNG, JPEG or WebP picture',
  broken: 'must be a complete, still picture in RGB or grey: this one is damaged or of another kind',
  sides: `must have between ${SIDES.least} and ${SIDES.most} pixels on each side`,
}

const KINDS = [
  { ending: 'png', begins: [0, '89504e470d0a1a0a'], read: readPng },
  { ending: 'jpg', begins: [0, 'ffd8ff'], read: readJpeg },
  { ending: 'webp', begins: [8, '57454250'], read: readWebp },
] as const

export function readPicture(sent: Buffer): Picture | { readonly ok: false; readonly why: Refusal } {
  if (sent.length > MOST_BYTES) return { ok: false, why: 'too_large' }
  const kind = KINDS.find(({ begins: [at, hex] }) => sent.toString('hex', at, at + hex.length / 2) === hex)
  if (kind === undefined) return { ok: false, why: 'not_a_picture' }
  const drawn = kind.read(sent, isDrawable)
  if (drawn === null) return { ok: false, why: 'broken' }
  if (!isDrawable(drawn)) return { ok: false, why: 'sides' }
  // Rewriting can add a header that was missing.
  if (drawn.bytes.length > MOST_BYTES) return { ok: false, why: 'too_large' }
  const hash = createHash('sha256').update(drawn.bytes).digest('hex').slice(0, 32)
  return { ok: true, name: `${hash}.${kind.ending}`, bytes: drawn.bytes }
}

function isDrawable({ width, height }: Sides): boolean {
  return [width, height].every((side) => side >= SIDES.least && side <= SIDES.most)
}
