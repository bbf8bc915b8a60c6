import { fileURLToPath } from 'node:url'
import { SANDBOX_TOOLS, writeSubset } from '../setup/subset.mjs'

// `node scripts/image/sandbox-packages.mjs`: leaves in package.json and lockfile what the sandbox's image needs. Only for
// the build of that image.
const root = fileURLToPath(new URL('../..', import.meta.url))
writeSubset(root, root, SANDBOX_TOOLS)
