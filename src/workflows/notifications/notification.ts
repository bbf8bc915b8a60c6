import { proxyActivities, sleep } from '@temporalio/workflow'
import type { NotificationActivities } from '../../activities/notifications/tell-channel.ts'

/** A channel has 15 s for one message. What it answers is a value: only our own trouble is tried again here. */
const telling = proxyActivities<NotificationActivities>({
  summary: 'Send the next message to the channel',
  startToCloseTimeout: '45 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** Keeps histories short. The sweep starts another run when there is more. */
const MOST_ROUNDS = 300

/**
 * Tells one channel what waits for it, message after message, as fast as it may. There is one run for a channel, so no two
 * messages go to it at once. It ends when nothing is left, or nothing for a minute.
 */
export async function notification(channelId: string): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { againAfterMs } = await telling.tellChannel(channelId)
    if (againAfterMs === null) return
    if (againAfterMs > 0) await sleep(againAfterMs, { summary: 'The next message can be sent' })
  }
}
