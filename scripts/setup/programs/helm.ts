import type { Progress } from '../progress.mjs'
import { which } from '../run.ts'
import { ensureGoProgram } from './go-program.ts'

/** The version that tools/helm/go.mod names. */
const HELM_VERSION = '3.21.4'

/** Finds helm on PATH or in the cache, or builds it there from tools/helm: 130 s of CPU, once. Returns its path. */
export async function ensureHelm(progress: Progress): Promise<string> {
  const found = which('helm')
  if (found !== null) return found
  const source = 'helm.sh/helm/v3/cmd/helm'
  return ensureGoProgram({ name: `helm-${HELM_VERSION}`, module: 'helm', source }, progress)
}
