import { toSkeleton, withoutCharacters } from '../text.ts'

/** Names of accounts and brands appear in mails and on pages that carry the name of the platform. */

/** A shorter name of a platform is a part of too many words. */
const SHORTEST_PART = 4

const toLetters = (name: string): string => toSkeleton(name).replace(/[^\p{L}\p{N}]/gu, '')

function readsAs(name: string, platform: string): boolean {
  const [letters, ours] = [toLetters(name), toLetters(platform)]
  return ours.length < SHORTEST_PART ? letters === ours : letters.includes(ours)
}

const DOTS = /[。｡․‧・·•]/g
/** A full stop between a name and two letters or more, also in brackets: `shop.example`, `shop[.]example`. */
const BARE_DOMAIN = /[\p{L}\p{N}][\s()[\]{}<>]*\.[()[\]{}<>]*\p{L}{2,}/u
const SPELLED_OUT = /\bdot[\s()[\]{}<>]+(?:com|net|org|io|app|shop|info|co|eu|me)\b/
const IP_ADDRESS = /(?:\d{1,3}\.){3}\d/
const SCHEME = /:\/\/|\bwww\b/
const ADDRESSES = [BARE_DOMAIN, SPELLED_OUT, IP_ADDRESS, SCHEME]

/** Returns why an account or a brand cannot have the name; null: it can. `platform`: the platform's name. */
export function nameProblem(name: string, platform: string): string | null {
  if (readsAs(name, platform)) return `must not contain the name of ${platform}`
  const spelled = withoutCharacters(name.normalize('NFKC'), 'turn', 'invisible').toLowerCase().replace(DOTS, '.')
  const isAddress = ADDRESSES.some((form) => form.test(spelled))
  return isAddress ? 'must not contain a web address; a full stop needs a space after it' : null
}
