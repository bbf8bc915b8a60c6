import type { Words } from '../messages/words.ts'
import { CopyButton } from './button.tsx'

/** Shows the whole value, so that it can be selected. With JavaScript, a button copies it. */
export function CopyField({ label, value, words }: { label: string; value: string; words: Words }) {
  return (
    <div class="copy-field">
      <p>
        <span class="label">{label}</span>
        <span class="value" dir="ltr">
          {ADDRESS.test(value) ? <Halves text={value} /> : value}
        </span>
      </p>
      <CopyButton value={value} done={words.t('copy.done')}>
        {words.t('copy.button')}
        <span class="unseen"> {label}</span>
      </CopyButton>
    </div>
  )
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Breaks a text into two lines of the same length if it does not fit one: they are easier to compare. */
function Halves({ text }: { text: string }) {
  const middle = text.length / 2
  return (
    <>
      {text.slice(0, middle)}
      <wbr />
      {text.slice(middle)}
    </>
  )
}

/** An id in a line of text, with a small button that copies it. Screen readers read the whole value. */
export function Copy({ value, short = value }: { value: string; short?: string }) {
  return (
    <span class="copy">
      <code title={value}>{short}</code>
      <CopyButton value={value} look="mini">
        <span class="unseen">Copy {value}</span>
      </CopyButton>
    </span>
  )
}

export function shorten(text: string, head = 10, tail = 4): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`
}
