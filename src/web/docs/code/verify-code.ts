import { readFileSync } from 'node:fs'
import type { Code, Language } from './languages.ts'

/** The code that verifies a webhook. The tests run these files. */
export const VERIFY_FILES = {
  typescript: 'verify.ts',
  python: 'verify.py',
  go: 'verify.go',
  php: 'verify.php',
  java: 'Verify.java',
} as const satisfies Partial<Record<Language, string>>

export const VERIFY_CODE: Code = Object.entries(VERIFY_FILES).map(([language, file]) => ({
  language: language as Language,
  text: readFileSync(new URL(`./verify/${file}`, import.meta.url), 'utf8').trimEnd(),
}))
