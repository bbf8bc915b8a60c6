/** The languages of the examples, by the name in an address: `?lang=python`. */
export const LANGUAGES = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
  go: 'Go',
  php: 'PHP',
  java: 'Java',
} as const

export type Language = keyof typeof LANGUAGES

/** In which an example asks the API. */
export const CALL_LANGUAGES = ['curl', 'typescript', 'python', 'go', 'php'] as const satisfies readonly Language[]
export type CallLanguage = (typeof CALL_LANGUAGES)[number]

export const isLanguage = (text: unknown): text is Language =>
  typeof text === 'string' && Object.hasOwn(LANGUAGES, text)

/** One piece of code in each of its languages. */
export type Code = readonly { readonly language: Language; readonly text: string }[]
