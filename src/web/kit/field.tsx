import type { ComponentChildren } from 'preact'
import { Note } from './note.tsx'

/** The error of each wrong field, by the field's name. */
export type FormErrors = Readonly<Record<string, string>>

type FieldProps = {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly optional?: boolean
  readonly errors?: FormErrors | undefined
  /** `alert` for a form without a summary of its errors. */
  readonly errorRole?: 'alert'
  /** Renders the control with the attributes that connect it to its hint and error. */
  readonly children: (attributes: {
    id: string
    name: string
    'aria-describedby'?: string
    'aria-invalid'?: 'true'
  }) => ComponentChildren
}

export function Field({ name, label, hint, optional = false, errors = {}, errorRole, children }: FieldProps) {
  const error = errors[name]
  const described = [hint !== undefined && `${name}-h`, error !== undefined && `${name}-e`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={name}>
        {label}
        {optional && <span class="opt">optional</span>}
      </label>
      {hint !== undefined && (
        <p class="hint" id={`${name}-h`}>
          {hint}
        </p>
      )}
      {children({
        id: name,
        name,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(error !== undefined && { 'aria-invalid': 'true' as const }),
      })}
      {error !== undefined && (
        <p class="error" id={`${name}-e`} role={errorRole}>
          {error}
        </p>
      )}
    </div>
  )
}

export function ErrorSummary({ errors = {} }: { errors?: FormErrors | undefined }) {
  const all = Object.entries(errors)
  if (all.length === 0) return null
  return (
    <Note
      tone="problem"
      icon="warning"
      strong={all.length === 1 ? 'One thing to correct' : `${all.length} things to correct`}
      more={all.map(([name, text]) => (
        <p key={name}>
          <a href={`#${name}`}>{text}</a>
        </p>
      ))}
    />
  )
}
