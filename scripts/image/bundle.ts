import { resolve } from 'node:path'
import { writeBundle } from '../../src/worker/bundle.ts'

// `node --import tsx scripts/image/bundle.ts <path>`: makes the bundle of the workflows that an image is shipped with.
const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('usage: node --import tsx scripts/image/bundle.ts <path>')
await writeBundle(resolve(path))
