import type { ComponentChildren } from 'preact'
import { CopyButton } from './button.tsx'
import { Card } from './card.tsx'
import { Icon } from './icon.tsx'

type SecretProps = {
  readonly id: string
  readonly title?: string
  readonly label: string
  /** The noun of the button: `key`, `secret`. */
  readonly what: string
  readonly value: string
  readonly lead: string
  readonly children: ComponentChildren
}

/** A secret that is shown once. It can be selected and copied without JavaScript. */
export function Secret({ id, title = 'Copy it now', label, what, value, lead, children }: SecretProps) {
  return (
    <Card
      id={`${id}-t`}
      look="secret"
      title={
        <>
          <Icon name="key" />
          {title}
        </>
      }
      lead={lead}
    >
      <div class="field">
        <label for={id}>{label}</label>
        <div class="inline">
          <input id={id} class="mono" readOnly value={value} autocomplete="off" spellcheck={false} />
          <CopyButton value={value} look="button fill">{`Copy ${what}`}</CopyButton>
        </div>
      </div>
      {children}
    </Card>
  )
}
