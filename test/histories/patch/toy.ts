import { patched, sleep } from '@temporalio/workflow'

/** A workflow that was changed after its first run had begun: it waits twice now, and once in the earlier runs. */
export async function toy(): Promise<void> {
  if (patched('waits-twice')) await sleep(10)
  await sleep(10)
}
