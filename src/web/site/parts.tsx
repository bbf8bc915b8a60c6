import type { ComponentChildren } from 'preact'
import type { Tone } from '../look/parts.tsx'
import { SiteIcon } from './icons.tsx'

type HeadProps = {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  /** The parent page. */
  readonly back?: { readonly href: string; readonly name: string }
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

export function Head({ title, lead, back, actions, children }: HeadProps) {
  return (
    <header class="head">
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

type CardProps = {
  readonly id: string
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  /** True if tables and lists reach the edges of the card. */
  readonly flush?: boolean
  readonly look?: string
  readonly children: ComponentChildren
}

export function Card({ id, title, lead, actions, flush = false, look = '', children }: CardProps) {
  return (
    <section class={`card${flush ? ' flush' : ''}${look === '' ? '' : ` ${look}`}`} aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

export function Note({
  tone,
  icon,
  strong,
  actions,
  children,
}: {
  readonly tone: Tone
  readonly icon: SiteIcon
  readonly strong: string
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}) {
  return (
    <div class={`note ${tone}`} role={tone === 'problem' ? 'alert' : undefined}>
      <SiteIcon name={icon} />
      <div class="grow">
        <strong>{strong}</strong>
        {children}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  )
}

export function State({ tone, icon, children }: { tone: Tone; icon: SiteIcon; children: ComponentChildren }) {
  return (
    <span class={`status ${tone}`}>
      <SiteIcon name={icon} />
      {children}
    </span>
  )
}

export function Facts({ across = false, children }: { across?: boolean; children: ComponentChildren }) {
  return <dl class={across ? 'facts across' : 'facts'}>{children}</dl>
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** An amount with its currency, which has a separate column in a table. */
export function Amount({ number, code }: { number: string; code: string }) {
  return (
    <span class="amt">
      {number} <span class="cur">{code}</span>
    </span>
  )
}

/** An id with a button that copies it with JavaScript. Screen readers read the whole value. */
export function Copy({ value, short = value }: { value: string; short?: string }) {
  return (
    <span class="copy">
      <code title={value}>{short}</code>
      <button type="button" class="mini" hidden data-copy={value}>
        <span class="hidden">Copy {value}</span>
        <SiteIcon name="copy" />
      </button>
    </span>
  )
}

export function Fold({
  title,
  icon,
  open = false,
  children,
}: {
  readonly title: string
  readonly icon?: SiteIcon
  readonly open?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <details class="fold" open={open}>
      <summary>
        {icon !== undefined && <SiteIcon name={icon} />}
        {title}
      </summary>
      {children}
    </details>
  )
}

export function Curl({
  command,
  title = 'Show as curl',
  open = false,
}: {
  command: string
  title?: string
  open?: boolean
}) {
  return (
    <Fold title={title} icon="code" open={open}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} aria-label="curl command">
        <code>{command}</code>
      </pre>
    </Fold>
  )
}

export function shorten(text: string, head = 10, tail = 4): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`
}
