import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'
import type { Tone } from './tone.ts'

type NoteProps = {
  readonly tone: Tone
  readonly icon: IconName
  readonly strong?: string
  readonly role?: 'status' | 'alert' | undefined
  readonly actions?: ComponentChildren
  /** The text after the title, in one paragraph. */
  readonly children?: ComponentChildren
  /** Paragraphs and lists below the text. */
  readonly more?: ComponentChildren
}

/** A buyer's page has at most one note. */
export function Note({ tone, icon, strong, role, actions, children, more }: NoteProps) {
  return (
    <div class={`note ${tone}`} role={role ?? (tone === 'problem' ? 'alert' : undefined)}>
      <Icon name={icon} />
      <div>
        <p>
          {strong !== undefined && (
            <>
              <strong>{strong}</strong>{' '}
            </>
          )}
          {children}
        </p>
        {more}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
  )
}
