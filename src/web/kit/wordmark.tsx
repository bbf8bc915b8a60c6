import type { Platform } from '../../domain/platform.ts'
import { Icon } from './icon.tsx'
import { logoPath } from './logo.tsx'

type WordmarkProps = { readonly platform: Platform; readonly href: string; readonly label?: string }

/** The platform's mark and name as a link. With a label, only the mark is shown. */
export function Wordmark({ platform, href, label }: WordmarkProps) {
  return (
    <a class="wordmark" href={href} aria-label={label}>
      <Mark platform={platform} />
      {label === undefined && platform.name}
    </a>
  )
}

/** The platform's logo, on white in both color schemes; without one, Pinrail's mark. */
export function Mark({ platform: { logo } }: { platform: Platform }) {
  return logo === null ? <Icon name="rail" /> : <img class="mark" src={logoPath(logo)} alt="" />
}
