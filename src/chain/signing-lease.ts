import type { SettlementDeps } from './context.ts'

/** Whether the right to sign is still this engine's, and no other one has had it since it was taken. */
export type StillOurs = () => Promise<boolean>

/**
 * Takes the right to sign; null while another engine has it. What is to be signed is chosen after that, which takes longer
 * than the lease where nodes are slow: another engine may have promised the same money meanwhile. So it is asked, and
 * renewed, whenever half of the lease is over.
 */
export async function leaseSigning({ journal, options }: SettlementDeps): Promise<StillOurs | null> {
  let renewed = performance.now()
  let isOurs = await journal.leaseSigning(options)
  if (!isOurs) return null
  return async () => {
    if (!isOurs || performance.now() - renewed < options.leaseMs / 2) return isOurs
    renewed = performance.now()
    isOurs = await journal.renewSigning(options)
    return isOurs
  }
}
