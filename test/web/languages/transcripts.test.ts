import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { LOCALES } from '../../../src/web/messages/locales.ts'
import { transcriptFile, transcriptOf, withoutValues } from './transcript.ts'

test.each(LOCALES)('every page in %s reads as its transcript says; `npm run transcripts` writes it anew', (locale) => {
  const kept = withoutValues(readFileSync(transcriptFile(locale), 'utf8'))
  const now = withoutValues(transcriptOf(locale))
  expect(kept.length).toBeGreaterThan(10_000)
  // Page by page, so that a difference is short.
  const pagesOf = (transcript: string): string[] => transcript.split('\n\n=== ')
  expect(pagesOf(now)).toEqual(pagesOf(kept))
})
