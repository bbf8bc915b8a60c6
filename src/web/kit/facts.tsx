import type { ComponentChildren } from 'preact'

/** `across`: the names are above the values, side by side. */
export function Facts({ across = false, children }: { across?: boolean; children: ComponentChildren }) {
  return <dl class={across ? 'facts across' : 'facts'}>{children}</dl>
}

export function Fact({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
