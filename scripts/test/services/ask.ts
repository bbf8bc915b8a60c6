/** Requests one of the run's services, which starts if it does not run yet. */
export async function ask<T>(path: string): Promise<T> {
  const url = process.env['PINRAIL_TEST_SERVICES']
  if (url === undefined) throw new Error('no test services: run this by Jest, whose global setup starts them')
  const response = await fetch(`${url}${path}`)
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as T
}
