import { readFileSync } from 'node:fs'
import { type Picture, REFUSALS, readPicture } from '../api/images/image.ts'
import { ConfigurationError } from '../config/read.ts'

/** Throws ConfigurationError if the file cannot be read or is no picture that pages can show. */
export function readPlatformLogo(path: string): Picture {
  const picture = readPicture(readFile(path))
  if (picture.ok) return picture
  throw new ConfigurationError([{ name: 'PLATFORM_LOGO', must: REFUSALS[picture.why] }])
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    throw new ConfigurationError([{ name: 'PLATFORM_LOGO', must: `must be a file that can be read: ${path}` }])
  }
}
