import type { ComponentChildren } from 'preact'
import { Note } from '../kit/note.tsx'

/** The note that a wallet must be set at `href` first. The children explain what the wallet is for. */
export function WalletNeeded({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <Note
      tone="wait"
      icon="wallet"
      strong="Set a wallet first"
      actions={
        <a class="button" href={href}>
          Set a wallet
        </a>
      }
    >
      {children}
    </Note>
  )
}
