import { existsSync } from 'node:fs'
import type { Step } from './progress.mjs'
import { firstLine, run, which } from './run.ts'

/**
 * Makes sure that programs are there, given with the Debian package of each. As root on Debian it installs what is
 * missing; elsewhere it fails with the command that does.
 */
export async function ensureDebianPackages(packageNames: Record<string, string>, step: Step): Promise<void> {
  const missing = Object.entries(packageNames).filter(([program]) => which(program) === null)
  if (missing.length === 0) return
  const packages = missing.map(([, name]) => name)
  const command = `apt-get update && apt-get install -y ${packages.join(' ')}`
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version') || which('apt-get') === null)
    throw new Error(`${missing.map(([program]) => program).join(', ')} missing. Install it, on Debian: sudo ${command}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    step.update('apt-get update')
    await run('apt-get', ['update', '-q'], { env })
    step.update(`apt-get install ${packages.join(' ')}`)
    await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], { env })
  } catch (error) {
    throw new Error(`\`${command}\` failed: ${firstLine(error)}`, { cause: error })
  }
}
