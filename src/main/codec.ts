import { readCodecConfig } from '../config/config.ts'
import { composeCodecServer } from '../deps/codec.ts'
import { createLogger } from '../runtime/log.ts'
import { onStop } from './stop.ts'

/** The process of the codec server: it decrypts payloads for operators. Reaches neither database nor Temporal. */
const config = readCodecConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'codec' })
const server = composeCodecServer(config)
server.listen(config.CODEC_PORT, config.CODEC_HOST, () => log.info({ port: config.CODEC_PORT }, 'codec server ready'))

onStop(log, async () => {
  server.close()
  server.closeAllConnections()
})
