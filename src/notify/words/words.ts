import type { EN } from './germanic/en.ts'

/** By the kind of the event or notice. */
export type Happened = keyof typeof EN.happened

/** Sentences of the mails that people of an account get. Names, addresses and times stand in them as they are. */
export type MailKey = keyof typeof EN.mail

/**
 * What a channel is told, in one language: the keys of English. `arrives` stands before nothing and behind an amount of
 * USDC, `stop` before the link that stops a change, `says` before what a channel said; `other` is for a kind without
 * words. `many`, `more` and `mail` are ICU messages.
 */
export type Words = {
  readonly [Key in keyof typeof EN]: Key extends 'happened'
    ? Readonly<Record<Happened, string>>
    : Key extends 'mail'
      ? Readonly<Record<MailKey, string>>
      : string
}
