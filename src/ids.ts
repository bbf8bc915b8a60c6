import { typeid } from 'typeid-js'
import { ID_PREFIXES, type IdKind } from './domain/ids.ts'

/** Creates an id of the kind: prefix and UUIDv7, so that ids sort by their time of creation. */
export function newId(kind: IdKind): string {
  return typeid(ID_PREFIXES[kind]).toString()
}
