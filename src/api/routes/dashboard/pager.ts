import { type IdKind, isId } from '../../../domain/ids.ts'
import type { PageCall } from './page.ts'

/** Ids of the items between which a page of a list lies. At most one is used: `before` counts first. */
type Cursors = { readonly after: string | null; readonly before: string | null }

/** Anything else than an id is ignored. */
export function readCursors(query: PageCall['query'], kind: IdKind): Cursors {
  const read = (name: string): string | null => (isId(kind, query[name] ?? '') ? (query[name] ?? null) : null)
  const before = read('before')
  return { after: before === null ? read('after') : null, before }
}

type Shown = { readonly items: readonly { readonly id: string }[]; readonly hasMore: boolean; readonly href: string }

/** URLs of the neighbors of a page. `hasMore` is about the direction in which the page was read. */
export function findNeighbors({ after, before }: Cursors, { items, hasMore, href }: Shown) {
  const hasNewer = before === null ? after !== null : hasMore
  const hasOlder = before === null ? hasMore : true
  const at = (name: 'after' | 'before', item: { readonly id: string } | undefined): string | null =>
    item === undefined ? null : `${href}${href.includes('?') ? '&' : '?'}${name}=${item.id}`
  return { newer: hasNewer ? at('before', items[0]) : null, older: hasOlder ? at('after', items.at(-1)) : null }
}
