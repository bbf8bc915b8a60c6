import type { Edit } from '../time/load.ts'

/**
 * A bug that was there once, or nearly: an edit of the source as it is loaded, which the model must catch. Where a second
 * wall stands behind the first, `and` takes it away too.
 */
export type Defect = { readonly name: string; readonly and?: readonly Edit[] } & Edit
