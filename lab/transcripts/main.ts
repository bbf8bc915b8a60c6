import { writeFileSync } from 'node:fs'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { KEPT, renderTranscript, transcriptFile } from '../../test/web/languages/transcript.ts'

/**
 * `npm run transcripts` writes what a person reads on every page, in the languages whose transcripts are kept. A test
 * compares them with the pages. `npm run --silent transcripts -- de` prints the transcript of one language.
 */
const [language] = process.argv.slice(2)
const locale = LOCALES.find((each) => each === language)
if (language !== undefined && locale === undefined) throw new Error(`the language must be one of ${LOCALES.join(', ')}`)
if (locale !== undefined) process.stdout.write(renderTranscript(locale))
else for (const each of KEPT) writeFileSync(transcriptFile(each), renderTranscript(each))
