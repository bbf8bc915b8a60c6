import { createServer } from 'node:http'
import { join } from 'node:path'
import { readInboxConfig } from '../config.ts'
import { createLogger } from '../log.ts'
import { createInbox } from './inbox.ts'
import { listen, onStop, stopListening } from './server.ts'

/** The process of the merchant's inbox: `INBOX_PORT`, deliveries in `INBOX_DATA`. */
const config = readInboxConfig()
const log = createLogger({ name: 'inbox', level: config.LOG_LEVEL })
const inbox = await createInbox({
  secrets: config.INBOX_WEBHOOK_SECRET?.reveal().split(',') ?? [],
  dataFile: join(config.INBOX_DATA, 'deliveries.jsonl'),
  log,
})
const server = createServer(inbox.app)
const url = await listen(server, { host: config.INBOX_HOST, port: config.INBOX_PORT })
log.info({ url }, 'the inbox is ready')

onStop(async () => {
  await stopListening(server)
  await inbox.close()
})
