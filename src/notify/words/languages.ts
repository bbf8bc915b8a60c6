import type { NotificationLanguage } from '../../domain/notification/channel.ts'
import { DE } from './de.ts'
import { EN } from './en.ts'
import { ES } from './es.ts'
import { FR } from './fr.ts'
import { IT } from './it.ts'
import { PT } from './pt.ts'
import type { Words } from './words.ts'

/** What channels are told, by language. */
export const WORDS: Readonly<Record<NotificationLanguage, Words>> = { en: EN, de: DE, es: ES, fr: FR, it: IT, pt: PT }
