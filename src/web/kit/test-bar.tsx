import type { ComponentChildren } from 'preact'

type TestBarProps = {
  /** The name of the bar for screen readers. */
  readonly label: string
  readonly tag: string
  readonly text: string
  readonly children?: ComponentChildren
}

/** The bar above every page of test mode. */
export function TestBar({ label, tag, text, children }: TestBarProps) {
  return (
    <aside class="test" aria-label={label}>
      <p>
        <b class="tag">{tag}</b> {text}
      </p>
      {children}
    </aside>
  )
}
