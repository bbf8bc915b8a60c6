/** The color of a state, for its pin, its current stop and its notes. The button keeps the merchant's color. */
export type Tone = 'brand' | 'success' | 'wait' | 'problem' | 'quiet'
