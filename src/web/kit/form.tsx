import type { ComponentChildren } from 'preact'
import { Note } from './parts.tsx'

/** A form that posts, with its CSRF token. */
export function PostForm({
  action,
  csrf,
  look = 'stack',
  children,
  ...more
}: {
  readonly action: string
  readonly csrf: string
  readonly look?: string
  readonly id?: string
  readonly 'data-preview'?: string
  readonly 'data-hints'?: string
  /** For a form with a file. */
  readonly enctype?: 'multipart/form-data'
  readonly children: ComponentChildren
}) {
  return (
    <form class={look} method="post" action={action} {...more}>
      <input type="hidden" name="_form" value={csrf} />
      {children}
    </form>
  )
}

export function FormEnd({ back, children }: { readonly back: string; readonly children: ComponentChildren }) {
  return (
    <div class="row">
      <button type="submit" class="btn fill big">
        {children}
      </button>
      <a class="btn text" href={back}>
        Cancel
      </a>
    </div>
  )
}

export function PostButton({
  action,
  csrf,
  fields = {},
  look = 'btn',
  children,
}: {
  readonly action: string
  readonly csrf: string
  readonly fields?: Readonly<Record<string, string>>
  readonly look?: string
  readonly children: ComponentChildren
}) {
  return (
    <PostForm action={action} csrf={csrf} look="">
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={look}>
        {children}
      </button>
    </PostForm>
  )
}

/** The error of each wrong field, by the field's name. */
export type FormErrors = Readonly<Record<string, string>>

type FieldProps = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly optional?: boolean
  readonly errors?: FormErrors | undefined
  /** Renders the control with the attributes that connect it to its hint and error. */
  readonly children: (attributes: {
    id: string
    name: string
    'aria-describedby'?: string
    'aria-invalid'?: 'true'
  }) => ComponentChildren
}

export function Field({ name, label, hint, optional = false, errors = {}, children }: FieldProps) {
  const error = errors[name]
  const described = [hint !== undefined && `${name}-h`, error !== undefined && `${name}-e`].filter(Boolean).join(' ')
  return (
    <div class={error === undefined ? 'field' : 'field has-error'}>
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
        <p class="error" id={`${name}-e`}>
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
      icon="warn"
      strong={all.length === 1 ? 'One thing to correct' : `${all.length} things to correct`}
    >
      {all.map(([name, text]) => (
        <p key={name}>
          <a href={`#${name}`}>{text}</a>
        </p>
      ))}
    </Note>
  )
}
