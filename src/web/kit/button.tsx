import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type FaceProps = {
  readonly icon?: IconName | undefined
  readonly leads?: boolean
  readonly children: ComponentChildren
}

/** The content of a button. The icon of a button that leads on is after the text, and points in the reading direction. */
export function ButtonFace({ icon, leads = false, children }: FaceProps) {
  if (icon === undefined) return <span>{children}</span>
  return (
    <>
      {!leads && <Icon name={icon} />}
      <span>{children}</span>
      {leads && <Icon name={icon} points />}
    </>
  )
}

type LinkProps = {
  readonly href: string
  /** The target of the link on a page in a frame. Absent: the target of the page's `base` element. */
  readonly target?: '_self' | '_top' | undefined
  readonly children: ComponentChildren
}

/** The button of the next step. A buyer's page has at most one, and a waiting page has none. */
export function FillLink({ href, icon, target, children }: LinkProps & { icon: IconName }) {
  return (
    <p class="act">
      <a class="button fill" href={href} target={target}>
        <ButtonFace icon={icon} leads={icon !== 'shop'}>
          {children}
        </ButtonFace>
      </a>
    </p>
  )
}

export function FillButton({ children }: { children: ComponentChildren }) {
  return (
    <p class="act">
      <button type="submit" class="button fill">
        <ButtonFace icon="arrow" leads>
          {children}
        </ButtonFace>
      </button>
    </p>
  )
}

/** The button of a step that is not the next one. */
export function OutlineLink({ href, icon, target, children }: LinkProps & { icon: IconName }) {
  return (
    <a class="button" href={href} target={target}>
      <ButtonFace icon={icon}>{children}</ButtonFace>
    </a>
  )
}

export function QuietLink({ href, target, children }: LinkProps) {
  return (
    <a class="button text" href={href} target={target}>
      {children}
    </a>
  )
}

type CopyProps = {
  readonly value: string
  /** The text of the button after it has copied. */
  readonly done?: string
  readonly look?: string
  readonly icon?: IconName
  readonly children: ComponentChildren
}

/** Hidden until the script shows it. Without JavaScript, people select and copy the text. */
export function CopyButton({ value, done = 'Copied', look = 'button', icon = 'copy', children }: CopyProps) {
  return (
    <button type="button" class={look} hidden data-copy={value} data-done={done}>
      <Icon name={icon} />
      <span aria-live="polite">{children}</span>
    </button>
  )
}
