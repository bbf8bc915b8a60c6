/** The languages of the examples, by their names in a URL: `?lang=python`. */
export const LANGUAGES = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
  go: 'Go',
  php: 'PHP',
  java: 'Java',
} as const

export type Language = keyof typeof LANGUAGES

export const CALL_LANGUAGES = ['curl', 'typescript', 'python', 'go', 'php'] as const satisfies readonly Language[]
export type CallLanguage = (typeof CALL_LANGUAGES)[number]

export const isLanguage = (text: unknown): text is Language =>
  typeof text === 'string' && Object.hasOwn(LANGUAGES, text)

/** The same example in each of its languages. */
export type Code = readonly { readonly language: Language; readonly text: string }[]
