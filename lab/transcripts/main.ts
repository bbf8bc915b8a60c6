import { writeFileSync } from 'node:fs'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { transcriptFile, transcriptOf } from '../../test/web/languages/transcript.ts'

/** `npm run transcripts`: what a person reads of every page, in each language. A test compares it with the pages. */
for (const locale of LOCALES) writeFileSync(transcriptFile(locale), transcriptOf(locale))
