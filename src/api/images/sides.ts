/** Pixels. */
export type Sides = { readonly width: number; readonly height: number }

export type Drawn = Sides & { readonly bytes: Buffer }
