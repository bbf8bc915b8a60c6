import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type WorkflowBundleWithSourceMap } from '@temporalio/worker'

/** The code that runs in the workflow sandbox: what src/workflows/index.ts reaches, and nothing else. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    logger: { trace: ignore, debug: ignore, info: ignore, warn: console.warn, error: console.error, log: ignore },
  })
}

function ignore(): void {}
