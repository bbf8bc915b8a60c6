import { Client, Connection } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import type { Config } from '../config.ts'
import { createPayloadCodec } from './codec.ts'

/** Encrypts payloads when a key is configured. */
export function dataConverter(config: Config): DataConverter | undefined {
  const key = config.TEMPORAL_CODEC_KEY
  return key === undefined ? undefined : { payloadCodecs: [createPayloadCodec(key.reveal())] }
}

/** A client that connects on first use, so that a process can start while Temporal is down. */
export function createTemporalClient(config: Config): {
  client: Client
  close: () => Promise<void>
  check: () => Promise<void>
} {
  const connection = Connection.lazy({ address: config.TEMPORAL_ADDRESS })
  const converter = dataConverter(config)
  const client = new Client({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    ...(converter !== undefined && { dataConverter: converter }),
  })
  return {
    client,
    close: () => connection.close(),
    check: async () => {
      await connection.withDeadline(Date.now() + 2000, () => connection.workflowService.getSystemInfo({}))
    },
  }
}
