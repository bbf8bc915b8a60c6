import { fileURLToPath } from 'node:url'
import { ensurePackages, nodeProblem } from './packages.mjs'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Begins every command, on a machine that may have nothing but Node: checks Node, installs the packages, and only then
 * loads `script`, which may use packages and TypeScript.
 * @param {string} script path from the checkout
 * @param {import('./progress.mjs').Progress} progress
 * @param {import('./packages.mjs').Scope} [scope]
 */
export async function bootstrap(script, progress, scope = 'everything') {
  const problem = nodeProblem()
  if (problem !== null) throw new Error(problem)
  await ensurePackages(ROOT, progress, scope)
  const { register } = await import('tsx/esm/api')
  register()
  return import(new URL(`../../${script}`, import.meta.url).href)
}
