import { createServer } from 'node:http'
import { readInboxConfig } from '../config/config.ts'
import { composeInbox } from '../deps/sandbox.ts'
import { createLogger } from '../runtime/log.ts'
import { listen, stopListening } from '../sandbox/server.ts'
import { onStop } from './stop.ts'

const config = readInboxConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'inbox' })
const inbox = await composeInbox(config, log)
const server = createServer(inbox.app)
const url = await listen(server, { host: config.INBOX_HOST, port: config.INBOX_PORT })
log.info({ url }, 'the inbox is ready')

onStop(log, async () => {
  await stopListening(server)
  await inbox.close()
})
