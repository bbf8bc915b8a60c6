import { type Logger as PinoLogger, pino, stdSerializers } from 'pino'

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'>

/**
 * Writes JSON lines to standard output. Only name, message, code and stack of an error are written: no row, no body,
 * no header.
 */
export function createLogger(options: { level: string; name: string }): Logger {
  return pino({ level: options.level, name: options.name, serializers: { err: plainError } })
}

function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = stdSerializers.err(error)
  return { type, message, stack, ...('code' in error && { code: error.code }) }
}
