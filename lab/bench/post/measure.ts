import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { until } from '../../../scripts/test/until.ts'
import type { Arm } from '../arm.ts'
import { type Batch, type Meter, runBatch, runInTurns } from '../measure.ts'
import { ALL_OF_OURS, armLines, line, RATE, ratioLines, TOOK } from '../report.ts'

export const POSTS_AT_ONCE = 16
const ROUNDS = 3
/** Milliseconds in which workflows that have started take their first tasks. */
const QUIET_MS = 3000
const PATIENCE_MS = 600_000

type Parts = { readonly client: Client; readonly meter: Meter; readonly posts: number; readonly warmUp: number }

/** Creates payments one at a time and at once, compared with the bare Express, and waits for their workflows. */
export async function measurePosts(arms: readonly [Arm, Arm], parts: Parts): Promise<string[]> {
  const { client, meter, posts, warmUp } = parts
  const startedMs: number[] = []
  const run = async (arm: Arm, atOnce: number, payments: number): Promise<Batch> => {
    const before = await countWorkflows(client)
    const begun = performance.now()
    const batch = await runBatch(arm, meter, { payments, atOnce })
    if (arm !== arms[0]) return batch
    await until(
      () => countWorkflows(client),
      (found) => found >= before + payments,
      PATIENCE_MS,
    )
    if (atOnce > 1) startedMs.push(performance.now() - begun)
    await delay(QUIET_MS)
    return batch
  }
  for (const arm of arms) await run(arm, POSTS_AT_ONCE, warmUp)
  startedMs.length = 0
  const each = Math.ceil(posts / ROUNDS)
  const alone = await runInTurns(arms, ROUNDS, (arm) => run(arm, 1, each))
  const together = await runInTurns(arms, ROUNDS, (arm) => run(arm, POSTS_AT_ONCE, each))
  return [
    ...armLines('post_alone.', alone),
    ...ratioLines('post_alone.', alone, TOOK),
    ...armLines('post.', together),
    ...ratioLines('post.', together, [RATE, ALL_OF_OURS]),
    line('post.all_started', startedMs, `ms for ${each} payments`),
  ]
}

export async function countWorkflows(client: Client, which = ''): Promise<number> {
  const query = [`WorkflowType = 'payment'`, which].filter(Boolean).join(' AND ')
  return (await client.workflow.count(query)).count
}
