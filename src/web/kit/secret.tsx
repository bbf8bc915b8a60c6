import type { ComponentChildren } from 'preact'
import { SiteIcon } from './icons.tsx'

type SecretProps = {
  readonly id: string
  readonly label: string
  /** The noun of the button: `key`, `secret`. */
  readonly what: string
  readonly value: string
  readonly lead: string
  readonly children: ComponentChildren
}

/** A secret that is shown once. It can be selected and copied without JavaScript. */
export function Secret({ id, label, what, value, lead, children }: SecretProps) {
  return (
    <section class="card secret" aria-labelledby={`${id}-t`}>
      <header>
        <div>
          <h2 id={`${id}-t`}>
            <SiteIcon name="key" />
            Copy it now
          </h2>
          <p>{lead}</p>
        </div>
      </header>
      <div class="field">
        <label for={id}>{label}</label>
        <div class="inline">
          <input id={id} class="mono" readOnly value={value} autocomplete="off" spellcheck={false} />
          <button class="btn fill" type="button" hidden data-copy={value}>
            <SiteIcon name="copy" />
            <span>{`Copy ${what}`}</span>
          </button>
        </div>
      </div>
      {children}
    </section>
  )
}
