import { v7 } from 'uuid'
import { formatId, type IdKind } from './domain/ids.ts'

/** Creates an id of the kind: prefix and UUIDv7, so that ids sort by their time of creation. */
export function newId(kind: IdKind): string {
  return formatId(kind, v7())
}
