import type { ComponentChildren } from 'preact'
import { formatAmount, type Money } from '../../domain/money.ts'
import type { Words } from '../messages/words.ts'
import { newest } from '../newest.ts'
import { drawQr, encodeQr } from './code.ts'
import { Icon, type IconName } from './icons.tsx'

/** The color of a state, for its pin, its current stop and its notes. The button keeps the merchant's color. */
export type Tone = 'brand' | 'success' | 'wait' | 'problem' | 'quiet'

type HeadProps = {
  readonly icon: IconName
  readonly title: string
  readonly lead?: ComponentChildren
  /** True if the page changes automatically, so that screen readers announce a new head. */
  readonly live?: boolean
  /** True while the platform waits for an answer: a ring turns. */
  readonly busy?: boolean
  /** True if the payment succeeded: the pin is filled. */
  readonly final?: boolean
}

export function Head({ icon, title, lead, live = false, busy = false, final = false }: HeadProps) {
  const look = ['head', busy && 'busy', final && 'final'].filter(Boolean).join(' ')
  return (
    <div class={look} role={live ? 'status' : undefined}>
      <span class="pin">
        <Icon name={icon} />
      </span>
      <h1>{title}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </div>
  )
}

type NoteProps = {
  readonly tone: Tone
  readonly icon: IconName
  readonly strong?: string
  readonly role?: 'status' | 'alert' | undefined
  readonly children?: ComponentChildren
}

/** A page has at most one note. */
export function Note({ tone, icon, strong, role, children }: NoteProps) {
  return (
    <div class={`note ${tone}`} role={role}>
      <Icon name={icon} />
      <p>
        {strong !== undefined && <b>{strong}</b>} {children}
      </p>
    </div>
  )
}

type LinkProps = {
  readonly href: string
  /** The target of the link on a page in a frame. Absent: the target of the page's `base` element. */
  readonly target?: '_self' | '_top' | undefined
  readonly children: ComponentChildren
}

/** The button of the next step. A page has at most one, and a waiting page has none. */
export function FillLink({ href, icon, target, children }: LinkProps & { icon: IconName }) {
  return (
    <p class="act">
      <a class="button fill" href={href} target={target}>
        {icon === 'shop' && <Icon name={icon} />}
        <span>{children}</span>
        {icon !== 'shop' && <Icon name={icon} points />}
      </a>
    </p>
  )
}

type FormProps = {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly icon: IconName
  /** The text of the button after it is pressed. */
  readonly busy: string
  readonly filled?: boolean
  readonly children: ComponentChildren
}

export function PostButton({ action, fields, icon, busy, filled = true, children }: FormProps) {
  return (
    <form class={filled ? 'act' : 'second'} method="post" action={action} data-busy={busy}>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={filled ? 'button fill' : 'button'}>
        {!filled && <Icon name={icon} />}
        <span>{children}</span>
        {filled && <Icon name={icon} points />}
      </button>
    </form>
  )
}

/** The button of a step that is not the next one. */
export function OutlineLink({ href, icon, target, children }: LinkProps & { icon: IconName }) {
  return (
    <a class="button" href={href} target={target}>
      <Icon name={icon} />
      <span>{children}</span>
    </a>
  )
}

export function QuietLink({ href, target, children }: LinkProps) {
  return (
    <a class="quiet-link" href={href} target={target}>
      {children}
    </a>
  )
}

export function Aside({ icon, children }: { icon: IconName; children: ComponentChildren }) {
  return (
    <p class="aside">
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  )
}

type FoldProps = {
  readonly icon: IconName
  readonly title: string
  readonly open?: boolean
  readonly children: ComponentChildren
}

export function Fold({ icon, title, open = false, children }: FoldProps) {
  return (
    <details class="fold" open={open}>
      <summary>
        <Icon name={icon} />
        <span>{title}</span>
        <Icon name="down" />
      </summary>
      <div class="fold-in">{children}</div>
    </details>
  )
}

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>
}

export function Fact({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A cache, because a buyer loads the page with the code of a payment about five times. */
const codes = newest<{ readonly modules: number; readonly path: string }>(500)

/** A QR code as one path, black on white in every scheme. `name` describes its content for screen readers. */
export function Qr({ text, name, size = 'usual' }: { text: string; name: string; size?: 'usual' | 'large' | 'small' }) {
  const { modules, path } = codes(text, () => {
    const code = encodeQr(text)
    return { modules: code.size, path: drawQr(code) }
  })
  return (
    <div class={`plate ${size}`}>
      <svg role="img" aria-label={name} viewBox={`0 0 ${modules} ${modules}`} shape-rendering="crispEdges">
        <path d={path} />
      </svg>
    </div>
  )
}

/** A QR code as a file, which a browser requests when the code scrolls into view. */
export function CodeImage({ src, name }: { src: string; name: string }) {
  return (
    <div class="plate">
      <img src={src} alt={name} width="210" height="210" loading="lazy" />
    </div>
  )
}

export function Amount({ money, words }: { money: Money; words: Words }) {
  return <data value={`${formatAmount(money)} ${money.currency}`}>{words.money(money)}</data>
}

/** Shows the whole value, so that it can be selected. With JavaScript, a button copies it. */
export function CopyField({ label, value, words }: { label: string; value: string; words: Words }) {
  return (
    <div class="copy">
      <p>
        <span class="label">{label}</span>
        <span class="value" dir="ltr">
          {ADDRESS.test(value) ? <Halves text={value} /> : value}
        </span>
      </p>
      <CopyButton value={value} words={words}>
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

/** Hidden until the script shows it. */
export function CopyButton({ value, words, icon = 'copy', children }: CopyProps) {
  return (
    <button type="button" class="button" hidden data-copy={value} data-done={words.t('copy.done')}>
      <Icon name={icon} />
      <span aria-live="polite">{children}</span>
    </button>
  )
}

type CopyProps = {
  readonly value: string
  readonly words: Words
  readonly icon?: IconName
  readonly children: ComponentChildren
}
