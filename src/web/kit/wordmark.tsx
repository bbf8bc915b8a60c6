import { Icon } from './icon.tsx'

/** Pinrail's mark and name as a link. With a label, only the mark is shown. */
export function Wordmark({ href, label }: { href: string; label?: string }) {
  return (
    <a class="wordmark" href={href} aria-label={label}>
      <Icon name="rail" />
      {label === undefined && 'Pinrail'}
    </a>
  )
}
