import { CopyButton } from '../../kit/button.tsx'
import { type Code, LANGUAGES, type Language } from './languages.ts'

type Props = {
  /** Unique on its page: the links of the languages lead back to it. */
  readonly id: string
  readonly code: Code
  /** The reader's language. If the example does not have it, the first language is shown. */
  readonly chosen: Language
  /** Describes the code for screen readers. */
  readonly label: string
  /** The path of the page. A page that can be the response to a form needs it. */
  readonly at?: string
}

/** An example with a link for each of its languages. The language is in the URL, and applies to the whole page. */
export function CodeTabs({ id, code, chosen, label, at = '' }: Props) {
  const shown = code.find(({ language }) => language === chosen) ?? code[0]
  if (shown === undefined) return null
  return (
    <figure class="code" id={id}>
      <figcaption>
        <div class="tongues" role="group" aria-label={`Language of: ${label}`}>
          {code.map(({ language }) => (
            <a
              key={language}
              href={`${at}?lang=${language}#${id}`}
              aria-current={language === shown.language ? 'true' : undefined}
            >
              {LANGUAGES[language]}
            </a>
          ))}
        </div>
        <CopyButton value={shown.text} look="mini">
          Copy
        </CopyButton>
      </figcaption>
      <Pre label={`${label}, in ${LANGUAGES[shown.language]}`} text={shown.text} />
    </figure>
  )
}

export function CodeBlock({ name, text, label }: { name: string; text: string; label: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <CopyButton value={text} look="mini">
          Copy
        </CopyButton>
      </figcaption>
      <Pre label={label} text={text} />
    </figure>
  )
}

function Pre({ label, text }: { label: string; text: string }) {
  return (
    // A keyboard must reach content that scrolls.
    <pre tabIndex={0} role="group" aria-label={label}>
      <code>{text}</code>
    </pre>
  )
}
