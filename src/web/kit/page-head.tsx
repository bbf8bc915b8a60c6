import type { ComponentChildren } from 'preact'

type PageHeadProps = {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  /** The parent page. */
  readonly back?: { readonly href: string; readonly name: string }
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

/** The head of a page of the site: a title with what can be done on the page. */
export function PageHead({ title, lead, back, actions, children }: PageHeadProps) {
  return (
    <header class="page-head">
      {back !== undefined && (
        <a class="back" href={back.href}>
          {back.name}
        </a>
      )}
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p>{lead}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
      {children}
    </header>
  )
}
