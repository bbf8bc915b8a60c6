/** Waits for all promises, then throws the first failure. */
export async function waitForAll<T>(works: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(works)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
