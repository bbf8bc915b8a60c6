import type { Server } from 'node:http'
import type { CodecConfig } from '../config/config.ts'
import { createPayloadCodec, parseCodecKeys } from '../temporal/codec.ts'
import { createCodecServer } from '../temporal/codec-server.ts'

export function composeCodecServer(config: CodecConfig): Server {
  return createCodecServer({
    codec: createPayloadCodec(parseCodecKeys(config.TEMPORAL_CODEC_KEYS.reveal())),
    token: config.CODEC_SERVER_TOKEN.reveal(),
    allowedOrigins: config.CODEC_ALLOWED_ORIGINS,
    secure: config.PINRAIL_MODE === 'live',
    clock: Date.now,
  })
}
