import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Queryable } from '../../db/db.ts'
import { takeDueChannels } from '../../db/notifications/messages.ts'
import { notificationWorkflowId } from '../../domain/ids.ts'
import type { notification } from '../../workflows/notifications/notification.ts'
import { notificationPriority } from '../../workflows/priority.ts'

export type NotificationSweepDeps = {
  readonly db: Queryable
  readonly client: Pick<Client, 'workflow'>
  readonly taskQueue: string
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Seconds for which a channel is not started again after its workflow was started: it may have ended just before. */
const AGAIN_SECONDS = 10
/** Rows of one round. After a full round, the next one follows at once. */
export const DUE_PER_ROUND = 500

export async function sweepNotifications({ db, client, taskQueue, now }: NotificationSweepDeps): Promise<number> {
  const at = new Date(now()).toISOString()
  const due = await takeDueChannels(db, { now: at, againSeconds: AGAIN_SECONDS, limit: DUE_PER_ROUND })
  await Promise.all(due.map((channelId) => start({ client, taskQueue }, channelId)))
  return due.length
}

async function start(
  { client, taskQueue }: Pick<NotificationSweepDeps, 'client' | 'taskQueue'>,
  channelId: string,
): Promise<void> {
  try {
    await client.workflow.start<typeof notification>('notification', {
      workflowId: notificationWorkflowId(channelId),
      taskQueue,
      args: [channelId],
      staticSummary: `Notifications of ${channelId}`,
      priority: notificationPriority(channelId),
    })
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
  }
}
