import type { Story, StoryStep } from '../story/steps.ts'
import type { View } from '../story/view.ts'

/** A story that once failed, in its shortest form. */
export type Found = Partial<Story> & {
  readonly title: string
  /** The defect that it showed. */
  readonly was?: string
  readonly steps: readonly StoryStep[]
  /** The state after its last step. */
  readonly ends?: Partial<View>
}

export const toStory = ({ minor = '10000', currency = 'EUR', pinned = false, only = false, steps }: Found): Story => ({
  minor,
  currency,
  pinned,
  only,
  steps,
})
