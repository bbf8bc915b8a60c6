import { proxyActivities, sleep } from '@temporalio/workflow'
import type { NotificationActivities } from '../../activities/notifications/notify-channel.ts'

/** A channel has 15 s for one message. Its answer is a value: only failures of the platform are tried again here. */
const notifications = proxyActivities<NotificationActivities>({
  summary: 'Send the next message to the channel',
  startToCloseTimeout: '45 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
})

/** Keeps histories short. The sweep starts another run if messages are left. */
const MOST_ROUNDS = 300

/** One run for a channel: no concurrent messages. It ends when no message is left, or none is due for a minute. */
export async function notification(channelId: string): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { againAfterMs } = await notifications.notifyChannel(channelId)
    if (againAfterMs === null) return
    if (againAfterMs > 0) await sleep(againAfterMs, { summary: 'The next message can be sent' })
  }
}
