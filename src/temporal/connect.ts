import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import type { Config } from '../config.ts'
import { createPayloadCodec, createWorkerCodec, parseCodecKeys } from './codec.ts'

/** Encrypts payloads, and the messages of failures, when keys are configured. `of`: a worker must not stand still at what it cannot open. */
export function dataConverter(
  config: Pick<Config, 'TEMPORAL_CODEC_KEYS'>,
  of: 'client' | 'worker',
): DataConverter | undefined {
  if (config.TEMPORAL_CODEC_KEYS === undefined) return undefined
  const keys = parseCodecKeys(config.TEMPORAL_CODEC_KEYS.reveal())
  const failureConverterPath = join(import.meta.dirname, 'failure-converter.cjs')
  return { failureConverterPath, payloadCodecs: [of === 'client' ? createPayloadCodec(keys) : createWorkerCodec(keys)] }
}

/** A client that connects on first use, so that a process can start while Temporal is down. */
export function createTemporalClient(config: Pick<Config, 'temporal' | 'TEMPORAL_CODEC_KEYS'>): {
  client: Client
  close: () => Promise<void>
  check: () => Promise<void>
} {
  const connection = Connection.lazy(config.temporal.connection)
  const ended = runningCalls(connection)
  const converter = dataConverter(config, 'client')
  const client = new Client({
    connection,
    namespace: config.temporal.namespace,
    ...(converter !== undefined && { dataConverter: converter }),
  })
  return {
    client,
    close: async () => {
      await ended()
      await connection.close()
    },
    check: async () => {
      await connection.withDeadline(Date.now() + 2000, () => connection.workflowService.getSystemInfo({}))
    },
  }
}

/**
 * The SDK tries a call again from a timer. On a connection that was closed meanwhile it throws there, where nobody can
 * catch it, and the process ends. So closing waits for the calls that run; each has a deadline.
 */
function runningCalls(connection: Connection): () => Promise<void> {
  const running = new Set<Promise<unknown>>()
  const withDeadline = connection.withDeadline.bind(connection)
  connection.withDeadline = (deadline, work) => {
    const call = withDeadline(deadline, work)
    running.add(call)
    const over = (): boolean => running.delete(call)
    call.then(over, over)
    return call
  }
  return async () => {
    while (running.size > 0) await Promise.allSettled(running)
  }
}
