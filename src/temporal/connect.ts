import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import type { Config } from '../config/config.ts'
import { createPayloadCodec, createWorkerCodec, parseCodecKeys } from './codec.ts'

/** Timers of Node can fire a little later than they were set to. */
const TIMER_SLACK_MS = 5

/** `of`: a worker must not stop at a payload that it cannot decrypt. */
export function dataConverter(
  config: Pick<Config, 'TEMPORAL_CODEC_KEYS'>,
  of: 'client' | 'worker',
): DataConverter | undefined {
  if (config.TEMPORAL_CODEC_KEYS === undefined) return undefined
  const keys = parseCodecKeys(config.TEMPORAL_CODEC_KEYS.reveal())
  const failureConverterPath = join(import.meta.dirname, 'failure-converter.cjs')
  return { failureConverterPath, payloadCodecs: [of === 'client' ? createPayloadCodec(keys) : createWorkerCodec(keys)] }
}

/** Connects on first use, so that a process can start while Temporal is down. */
export function createTemporalClient(config: Pick<Config, 'temporal' | 'TEMPORAL_CODEC_KEYS'>): {
  client: Client
  close: () => Promise<void>
  check: () => Promise<void>
} {
  const retries = createRetries()
  const connection = Connection.lazy({ ...config.temporal.connection, interceptors: [retries.interceptor] })
  const converter = dataConverter(config, 'client')
  const client = new Client({
    connection,
    namespace: config.temporal.namespace,
    ...(converter !== undefined && { dataConverter: converter }),
  })
  return {
    client,
    close: async () => {
      await retries.end()
      await connection.close()
    },
    check: async () => {
      await connection.withDeadline(Date.now() + 2000, () => connection.workflowService.getSystemInfo({}))
    },
  }
}

/** A retry of the SDK after the connection was closed throws where no code can catch it, and the process ends. */
function createRetries() {
  const { retryableDecider, delayFunction } = defaultGrpcRetryOptions()
  let isOver = false
  let lastAt = 0
  return {
    interceptor: makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) => !isOver && retryableDecider(attempt, status),
      delayFunction: (attempt, status) => {
        const ms = delayFunction(attempt, status)
        lastAt = Math.max(lastAt, performance.now() + ms)
        return ms
      },
    }),
    async end() {
      isOver = true
      const ms = lastAt - performance.now()
      if (ms > 0) await delay(Math.ceil(ms) + TIMER_SLACK_MS)
    },
  }
}
