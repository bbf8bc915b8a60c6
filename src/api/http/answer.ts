/** What a route answers with. */
export type Answer = {
  readonly status: number
  /** Text is sent as it is: a stored answer is repeated byte for byte. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
}
