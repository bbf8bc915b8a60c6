import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export function Aside({ icon, children }: { icon: IconName; children: ComponentChildren }) {
  return (
    <p class="aside">
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  )
}
