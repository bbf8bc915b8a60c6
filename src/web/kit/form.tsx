import type { ComponentChildren } from 'preact'
import { ButtonFace } from './button.tsx'
import type { IconName } from './icon.tsx'

type PostFormProps = {
  readonly action: string
  /** The token against forged requests. Absent: the page is not signed in, or its URL is a secret. */
  readonly csrf?: string | undefined
  readonly fields?: Readonly<Record<string, string>>
  /** The text of the pressed button. It then sends no second request. */
  readonly busy?: string | undefined
  readonly look?: string
  readonly id?: string
  readonly hidden?: boolean
  readonly 'data-passkey'?: 'get' | 'create'
  readonly 'data-options'?: string
  /** The EIP-712 data that a wallet of the browser signs when the form is sent. */
  readonly 'data-sign'?: string
  readonly 'data-preview'?: string
  readonly 'data-hints'?: string
  readonly enctype?: 'multipart/form-data'
  readonly children: ComponentChildren
}

export function PostForm({ action, csrf, fields = {}, busy, look = 'stack', children, ...more }: PostFormProps) {
  const hidden = csrf === undefined ? fields : { _form: csrf, ...fields }
  return (
    <form class={look || undefined} method="post" action={action} data-busy={busy} {...more}>
      <HiddenFields fields={Object.entries(hidden)} />
      {children}
    </form>
  )
}

export function HiddenFields({ fields }: { fields: readonly (readonly [name: string, value: string])[] }) {
  return (
    <>
      {fields.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  )
}

type PostButtonProps = Pick<PostFormProps, 'action' | 'csrf' | 'fields' | 'busy' | 'id' | 'children'> & {
  readonly icon?: IconName
  /** The classes of the button. A filled one is the next step. */
  readonly look?: string
}

export function PostButton({ icon, look = 'button', children, ...form }: PostButtonProps) {
  const isNext = look === 'button fill'
  return (
    <PostForm {...form} look={isNext ? 'act' : 'second'}>
      <button type="submit" class={look}>
        <ButtonFace icon={icon} leads={isNext}>
          {children}
        </ButtonFace>
      </button>
    </PostForm>
  )
}

type FormEndProps = { readonly back: string; readonly danger?: boolean; readonly children: ComponentChildren }

/** The end of a form: its button, and the way back. */
export function FormEnd({ back, danger = false, children }: FormEndProps) {
  return (
    <div class="row">
      <button type="submit" class={danger ? 'button danger big' : 'button fill big'}>
        {children}
      </button>
      <a class="button text" href={back}>
        Cancel
      </a>
    </div>
  )
}
