/** What a channel is told, in one language. */
export type Words = {
  /** By the kind of the event or notice. */
  readonly happened: Readonly<Record<string, string>>
  /** Of a kind without words. */
  readonly other: string
  /** "… arrives", before an amount of USDC. */
  readonly arrives: string
  readonly reference: string
  readonly newWallet: string
  readonly takesEffect: string
  /** Before the link that stops it. */
  readonly stop: string
  /** Before what a channel said, or an address. */
  readonly says: string
  readonly repeated: string
  readonly test: string
  readonly many: (count: number) => string
  readonly more: (count: number) => string
}
