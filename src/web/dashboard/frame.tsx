import type { ComponentChildren } from 'preact'
import type { Role } from '../../domain/account/roles.ts'
import type { Platform } from '../../domain/platform.ts'
import { renderDocument } from '../kit/document.tsx'
import { PostForm } from '../kit/form.tsx'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Logo } from '../kit/logo.tsx'
import { SideNav, TopBar } from '../kit/nav.tsx'
import { Note } from '../kit/note.tsx'
import { Foot, Main, SITE, SkipLink } from '../kit/site-page.tsx'
import { TestBar } from '../kit/test-bar.tsx'
import { DONE, type Done } from './done.ts'

export type Frame = {
  readonly path: string
  /** The name of the account; null if the person belongs to none. */
  readonly account: string | null
  readonly role: Role | null
  readonly accounts: readonly { readonly merchantId: string; readonly name: string }[]
  readonly email: string
  readonly csrf: string
  readonly testMode: boolean
  /** The URL of the deployment of the other mode; null if not configured. */
  readonly otherModeUrl: string | null
  readonly platform: Platform
  /** The form that the last request saved; null or absent if it saved none. */
  readonly done?: Done | null
}

type Place = { readonly href: string; readonly name: string; readonly icon: IconName }

const MAIN: readonly Place[] = [
  { href: '/dashboard', name: 'Overview', icon: 'home' },
  { href: '/dashboard/payments', name: 'Payments', icon: 'payments' },
  { href: '/dashboard/refunds', name: 'Refunds', icon: 'back' },
  { href: '/dashboard/disputes', name: 'Disputes', icon: 'shield' },
  { href: '/dashboard/links', name: 'Links', icon: 'link' },
  { href: '/dashboard/balance', name: 'Balance', icon: 'balance' },
]
const DEVELOPERS: readonly Place[] = [
  { href: '/dashboard/keys', name: 'API keys', icon: 'key' },
  { href: '/dashboard/webhooks', name: 'Webhooks', icon: 'webhook' },
  { href: '/dashboard/embedding', name: 'Embedding', icon: 'code' },
  { href: '/dashboard/events', name: 'Events', icon: 'events' },
  { href: '/dashboard/requests', name: 'Request log', icon: 'log' },
]
const SETTINGS: readonly Place[] = [
  { href: '/dashboard/wallet', name: 'Wallet', icon: 'wallet' },
  { href: '/dashboard/deductions', name: 'Deductions', icon: 'back' },
  { href: '/dashboard/agreement', name: 'Agreement', icon: 'shield' },
  { href: '/dashboard/notifications', name: 'Notifications', icon: 'bell' },
  { href: '/dashboard/team', name: 'Team', icon: 'team' },
  { href: '/dashboard/brand', name: 'Brand', icon: 'brand' },
]

export type FramedPage = {
  readonly frame: Frame
  readonly title: string
  /** True for a form or a text: the column is narrower. */
  readonly narrow?: boolean
  /** The path of a stream of events. The page reloads its content with each event. */
  readonly follow?: string
  readonly children: ComponentChildren
}

export function renderFramed({ frame, title, narrow = false, follow, children }: FramedPage): string {
  const { platform, account, testMode, done } = frame
  const name = account === null ? title : `${title} · ${account}${testMode ? ' (test)' : ''}`
  return renderDocument({
    ...SITE,
    platform,
    title: `${name} · ${platform.name}`,
    look: `app${testMode ? ' is-test' : ''}${account === null ? ' bare' : ''}`,
    children: (
      <>
        <SkipLink />
        {testMode && (
          <TestBar label="Test mode" tag="Test" text="No real money moves.">
            {frame.otherModeUrl !== null && <a href={`${frame.otherModeUrl}/dashboard`}>Switch to live</a>}
          </TestBar>
        )}
        <TopBar
          platform={platform}
          home="/dashboard"
          homeName={`${platform.name}, overview`}
          hasMenu={account !== null}
        >
          {account ?? platform.name}
        </TopBar>
        {account !== null && <Nav frame={frame} />}
        <Main narrow={narrow} follow={follow} foot={<Foot platform={platform} />}>
          {done != null && (
            <Note tone="success" icon="circle_check" role="status">
              {DONE[done]}
            </Note>
          )}
          {children}
        </Main>
      </>
    ),
  })
}

function Nav({ frame }: { frame: Frame }) {
  return (
    <SideNav platform={frame.platform} home="/dashboard" name="Main">
      <Account frame={frame} />
      <div>
        <Places places={MAIN} path={frame.path} />
        <h2 id="nav-2">Developers</h2>
        <Places places={DEVELOPERS} path={frame.path} labelledBy="nav-2" />
        <h2 id="nav-3">Settings</h2>
        <Places places={SETTINGS} path={frame.path} labelledBy="nav-3" />
      </div>
      <ul>
        <PlaceItem place={{ href: '/docs', name: 'Docs', icon: 'book' }} path={frame.path} />
        <li>
          <a href="/dashboard/account" aria-current={frame.path === '/dashboard/account' ? 'page' : undefined}>
            <Icon name="user" />
            Your sign-in
            {frame.role !== null && <small>{roleName(frame.role)}</small>}
          </a>
        </li>
      </ul>
    </SideNav>
  )
}

function Account({ frame: { account, accounts, csrf, testMode } }: { frame: Frame }) {
  return (
    <details class="who">
      <summary>
        <Logo shop={{ name: account ?? '', logo: null }} />
        <span>
          {account}
          <small>{testMode ? 'Test mode' : 'Live'}</small>
        </span>
        <Icon name="down" />
      </summary>
      <PostForm action="/dashboard/accounts/choose" csrf={csrf} look="menu">
        {accounts.map(({ merchantId, name }) => (
          <button key={merchantId} class="button text" type="submit" name="account" value={merchantId}>
            {name}
          </button>
        ))}
      </PostForm>
    </details>
  )
}

function Places({ places, path, labelledBy }: { places: readonly Place[]; path: string; labelledBy?: string }) {
  return (
    <ul aria-labelledby={labelledBy}>
      {places.map((place) => (
        <PlaceItem key={place.href} place={place} path={path} />
      ))}
    </ul>
  )
}

function PlaceItem({ place: { href, name, icon }, path }: { place: Place; path: string }) {
  const isHere = path === href || (href !== '/dashboard' && path.startsWith(`${href}/`))
  return (
    <li>
      <a href={href} aria-current={isHere ? 'page' : undefined}>
        <Icon name={icon} />
        {name}
      </a>
    </li>
  )
}

export function roleName(role: Role): string {
  return `${role.charAt(0).toUpperCase()}${role.slice(1)}`
}
