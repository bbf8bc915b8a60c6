import type { ComponentChildren } from 'preact'

type CardProps = {
  readonly id: string
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  /** True if tables and lists reach the edges of the card. */
  readonly flush?: boolean
  readonly look?: string
  readonly children: ComponentChildren
}

export function Card({ id, title, lead, actions, flush = false, look = '', children }: CardProps) {
  const classes = ['card', flush && 'flush', look].filter(Boolean).join(' ')
  return (
    <section class={classes} aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}
