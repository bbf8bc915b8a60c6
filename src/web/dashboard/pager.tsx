/** Links to the previous and the next page; null if there is none. */
export function Pager({ newer, older }: { newer: string | null; older: string | null }) {
  if (newer === null && older === null) return null
  return (
    <nav class="pager row between" aria-label="Pages">
      {newer === null ? (
        <span />
      ) : (
        <a class="button" href={newer} rel="prev">
          Back
        </a>
      )}
      {older !== null && (
        <a class="button" href={older} rel="next">
          More
        </a>
      )}
    </nav>
  )
}

/** A link to older entries, for lists without a way back to newer ones. */
export function Older({ href }: { href: string | null }) {
  if (href === null) return null
  return (
    <footer class="pager row between">
      <a class="button" href={href} rel="next">
        Older
      </a>
    </footer>
  )
}
