import { request } from 'node:http'

/**
 * Returns the status of a request with the key in two Authorization headers. `fetch` joins headers of one name, so the
 * request is raw.
 */
export function twoHeaders(
  url: string,
  method: string,
  { key, body }: { key: string; body?: unknown },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        headers: [
          'host',
          'x',
          'Authorization',
          `Bearer ${key}`,
          'authorization',
          `Bearer ${key}`,
          'content-type',
          'application/json',
        ],
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
