/** Pixels. */
export type Sides = { readonly width: number; readonly height: number }

/** A picture that contains only what is needed to draw it. */
export type Drawn = Sides & { readonly bytes: Buffer }
