import { listAddresses, type Platform, type PlatformAddress } from '../../domain/platform.ts'
import { translator } from '../messages/translate.ts'
import type { Words } from '../messages/words.ts'

const ENGLISH = translator('en')

/** Items of a list: the platform's pages and e-mail address. */
export function PlatformLinks({ platform, words: { t } = ENGLISH }: { platform: Platform; words?: Pick<Words, 't'> }) {
  return (
    <>
      {listAddresses(platform).map((address) => (
        <li key={address.place}>
          <a href={toHref(address)}>{t(`platform.${address.place}`)}</a>
        </li>
      ))}
    </>
  )
}

/** The same as addresses that can be read on paper. */
export function PlatformAddresses({ platform }: { platform: Platform }) {
  return (
    <>
      {listAddresses(platform).map((each) => (
        <a key={each.place} class="id" href={toHref(each)}>
          {each.address}
        </a>
      ))}
    </>
  )
}

const toHref = ({ place, address }: PlatformAddress): string => (place === 'support' ? `mailto:${address}` : address)

export function ContactSupport({ platform: { support } }: { platform: Pick<Platform, 'support'> }) {
  return support === null ? (
    <>Contact support</>
  ) : (
    <a href={toHref({ place: 'support', address: support })}>Contact support</a>
  )
}
