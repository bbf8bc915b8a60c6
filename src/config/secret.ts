/** A value that must not be printed: logs, JSON and the inspector show `[secret]`. `reveal()` returns the text. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '[secret]'
  }
  toJSON(): string {
    return '[secret]'
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}

/** Returns the secrets of a comma-separated list; none if it is not set. */
export const splitSecrets = (list: Secret | undefined): string[] =>
  (list?.reveal() ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
