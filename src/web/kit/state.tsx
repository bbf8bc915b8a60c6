import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'
import type { Tone } from './tone.ts'

export function State({ tone, icon, children }: { tone: Tone; icon: IconName; children: ComponentChildren }) {
  return (
    <span class={`state ${tone}`}>
      <Icon name={icon} />
      {children}
    </span>
  )
}
