import type { History } from '@temporalio/common/lib/proto-utils.js'
import type { Setup } from '../setup.ts'

/**
 * Plays one story to its end, or until the rest happens automatically. Returns the workflows whose histories to keep.
 */
export type Scenario = (setup: Setup) => Promise<string | readonly WorkflowOf[]>

/** A workflow of a story with several, and the name of its history. */
export type WorkflowOf = {
  readonly name: string
  readonly workflowId: string
  /** The number of its run, from 0. Default: the first. */
  readonly run?: number
  /** Default: the server of the stage has it. */
  readonly history?: History
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
