import type { ComponentChildren } from 'preact'
import type { Platform } from '../../domain/platform.ts'
import { Icon } from './icon.tsx'
import { Wordmark } from './wordmark.tsx'

/** The navigation next to a page. On a phone, a bar has a button that opens it. */

const ID = 'nav'

type BarProps = {
  readonly platform: Platform
  readonly home: string
  readonly homeName: string
  readonly hasMenu?: boolean
  readonly children: ComponentChildren
}

export function TopBar({ platform, home, homeName, hasMenu = true, children }: BarProps) {
  return (
    <header class="bar">
      <Wordmark platform={platform} href={home} label={homeName} />
      <b>{children}</b>
      {hasMenu && (
        <button class="button text" type="button" popovertarget={ID}>
          <Icon name="menu" />
          Menu
        </button>
      )}
    </header>
  )
}

type NavProps = {
  readonly platform: Platform
  readonly home: string
  readonly name: string
  readonly children: ComponentChildren
}

export function SideNav({ platform, home, name, children }: NavProps) {
  return (
    <nav class="nav" id={ID} popover="auto" aria-label={name}>
      <Wordmark platform={platform} href={home} />
      {children}
    </nav>
  )
}
