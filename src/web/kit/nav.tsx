import type { ComponentChildren } from 'preact'
import { Mark, SiteIcon } from './icons.tsx'

/** The navigation next to a page. On a phone, a bar has a button that opens it. */

const ID = 'nav'

type BarProps = {
  readonly home: string
  readonly homeName: string
  /** False if no navigation is on the page. */
  readonly hasMenu?: boolean
  readonly children: ComponentChildren
}

export function TopBar({ home, homeName, hasMenu = true, children }: BarProps) {
  return (
    <header class="bar">
      <a class="logo" href={home} aria-label={homeName}>
        <Mark />
      </a>
      <b>{children}</b>
      {hasMenu && (
        <button class="btn text" type="button" popovertarget={ID}>
          <SiteIcon name="menu" />
          Menu
        </button>
      )}
    </header>
  )
}

type NavProps = { readonly home: string; readonly name: string; readonly children: ComponentChildren }

export function SideNav({ home, name, children }: NavProps) {
  return (
    <nav class="nav" id={ID} popover="auto" aria-label={name}>
      <a class="logo" href={home}>
        <Mark />
        Pinrail
      </a>
      {children}
    </nav>
  )
}
