import type { Streams } from './command.ts'

/**
 * A reader that leaves early, such as `head`, must not end a command before its work is done: the remaining output is
 * dropped.
 */
export function openStreams(): Streams {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  return { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) }
}
