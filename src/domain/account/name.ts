import { toSkeleton, withoutCharacters } from '../text.ts'

/** Names of accounts and brands appear in mails and on pages that carry the name of Pinrail. */

const OURS = toSkeleton('pinrail')

const DOTS = /[。｡․‧・·•]/g
/** A full stop between a name and two letters or more, also in brackets: `shop.example`, `shop[.]example`. */
const BARE_DOMAIN = /[\p{L}\p{N}][\s()[\]{}<>]*\.[()[\]{}<>]*\p{L}{2,}/u
const SPELLED_OUT = /\bdot[\s()[\]{}<>]+(?:com|net|org|io|app|shop|info|co|eu|me)\b/
const IP_ADDRESS = /(?:\d{1,3}\.){3}\d/
const SCHEME = /:\/\/|\bwww\b/
const ADDRESSES = [BARE_DOMAIN, SPELLED_OUT, IP_ADDRESS, SCHEME]

/** Returns why an account or a brand cannot have the name; null: it can. */
export function nameProblem(name: string): string | null {
  const letters = toSkeleton(name).replace(/[^\p{L}\p{N}]/gu, '')
  if (letters.includes(OURS)) return 'must not contain the name of Pinrail'
  const spelled = withoutCharacters(name.normalize('NFKC'), 'turn', 'invisible').toLowerCase().replace(DOTS, '.')
  const isAddress = ADDRESSES.some((form) => form.test(spelled))
  return isAddress ? 'must not contain a web address; a full stop needs a space after it' : null
}
