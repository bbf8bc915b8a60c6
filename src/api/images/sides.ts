/** Pixels. */
export type Sides = { readonly width: number; readonly height: number }

/** What a reader found: the picture without what does not belong to it. */
export type Drawn = Sides & { readonly bytes: Buffer }
