import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type FoldProps = {
  readonly icon?: IconName
  readonly title: ComponentChildren
  readonly open?: boolean
  readonly children: ComponentChildren
}

export function Fold({ icon, title, open = false, children }: FoldProps) {
  return (
    <details class="fold" open={open}>
      <summary>
        {icon !== undefined && <Icon name={icon} />}
        <span>{title}</span>
        <Icon name="down" />
      </summary>
      <div class="fold-in">{children}</div>
    </details>
  )
}
