import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { LOCALES } from '../../../src/web/messages/locales.ts'
import { KEPT, renderTranscript, transcriptFile, withoutValues } from './transcript.ts'

const splitPages = (transcript: string): string[] => transcript.split('\n\n=== ')

test.each(KEPT)('every page in %s reads as its transcript, which `npm run transcripts` writes', (locale) => {
  const kept = withoutValues(readFileSync(transcriptFile(locale), 'utf8'))
  expect(kept.length).toBeGreaterThan(10_000)
  // Page by page, so that a difference is short.
  expect(splitPages(withoutValues(renderTranscript(locale)))).toEqual(splitPages(kept))
})

/** A page without its words: its name, and for each line its prefix and its number of values. */
const getShape = (page: string): string[] =>
  page.split('\n').map((line, nth) => {
    const [mark = ''] = /^(## |# |· |> |\[|: |\(picture\))?/.exec(line) ?? []
    return nth === 0 ? line : `${mark}${line.split('‹').length - 1}`
  })

const ENGLISH = splitPages(renderTranscript('en')).map(getShape)

test.each(LOCALES)(
  'every page in %s has the lines and the values of the English page, and no empty place',
  (locale) => {
    const transcript = renderTranscript(locale)
    expect(transcript.split('\n').filter((line) => /\{\w+\}|undefined|\bnull\b|NaN|\[object/.test(line))).toEqual([])
    expect(splitPages(transcript).map(getShape)).toEqual(ENGLISH)
  },
)
