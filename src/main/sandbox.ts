import { createServer } from 'node:http'
import { readSandboxConfig } from '../config/config.ts'
import { composeSandbox } from '../deps/sandbox.ts'
import { createLogger } from '../runtime/log.ts'
import { listen, stopListening } from '../sandbox/server.ts'
import { onStop } from './stop.ts'

const config = readSandboxConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'sandbox' })
const sandbox = await composeSandbox(config, log)
const server = createServer(sandbox.app)
const url = await listen(server, { host: config.SANDBOX_HOST, port: config.SANDBOX_PORT })
sandbox.run()
log.info({ url }, 'the partner simulators are ready')

onStop(log, async () => {
  await stopListening(server)
  await sandbox.close()
})
