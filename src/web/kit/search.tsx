import { HiddenFields } from './form.tsx'
import { Icon } from './icon.tsx'

type SearchProps = {
  readonly action: string
  readonly label: string
  readonly value?: string
  readonly maxLength?: number
  readonly placeholder: string
  /** A list of places, which a script searches while a person types. */
  readonly index?: string
  /** The other filters of the page, which the search keeps. */
  readonly fields?: readonly (readonly [name: string, value: string])[]
}

export function SearchForm({ action, label, value, maxLength = 200, placeholder, index, fields = [] }: SearchProps) {
  return (
    <form class="search" method="get" action={action} data-index={index}>
      <HiddenFields fields={fields} />
      <Icon name="search" />
      <label class="unseen" for="q">
        {label}
      </label>
      <input
        id="q"
        name="q"
        type="search"
        value={value}
        maxLength={maxLength}
        placeholder={placeholder}
        aria-keyshortcuts="/"
      />
    </form>
  )
}
