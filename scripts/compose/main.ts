import type { Progress } from '../setup/progress.mjs'
import { openComposed } from './composed.ts'
import { playStory } from './story.ts'

/**
 * `npm run compose`: builds the images, starts docker-compose.yml, makes a payment through each provider, kills each
 * service, and replaces all containers. Prints start time, memory and the sizes of the images. Returns the exit code.
 */
export async function main(_args: readonly string[], progress: Progress): Promise<number> {
  const composed = await openComposed(progress)
  try {
    await playStory(composed, (line) => progress.line(line))
    return 0
  } finally {
    await composed.close()
  }
}
