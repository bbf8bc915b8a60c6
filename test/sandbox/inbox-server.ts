import { createServer } from 'node:http'
import { pino } from 'pino'
import { createInbox } from '../../src/sandbox/inbox/inbox.ts'
import { listen } from '../partners/sandbox-server.ts'

export type InboxServer = { readonly url: string; readonly stop: () => Promise<void> }

/** An inbox on its own port. After `stop`, another one can be started on the same files. */
export async function startInbox(options: Omit<Parameters<typeof createInbox>[0], 'log'>): Promise<InboxServer> {
  const inbox = await createInbox({ ...options, log: pino({ level: 'silent' }) })
  const server = createServer(inbox.app)
  const url = await listen(server)
  return {
    url,
    async stop() {
      server.closeAllConnections()
      server.close()
      await inbox.close()
    },
  }
}
