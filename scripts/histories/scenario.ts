import type { Stage } from './stage.ts'

/** Plays one story to its end, or up to where the rest comes by itself; answers the workflows whose histories it is. */
export type Scenario = (stage: Stage) => Promise<string | readonly WorkflowOf[]>

/** A workflow of a story that has several, and what its history is called. */
export type WorkflowOf = {
  readonly name: string
  readonly workflowId: string
  /** Which of its runs: 0 is the first, and what is meant when absent. */
  readonly run?: number
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
