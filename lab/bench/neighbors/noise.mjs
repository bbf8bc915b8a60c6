import { Agent, request } from 'node:http'

// Sends requests again and again, in a separate process, so that sending does not slow the measurement.
process.once(
  'message',
  (
    /** @type {{ urls: string[], method: string, headers: Record<string, string>, body: string, lanes: number, most: number }} */ asked,
  ) => {
    const { urls, method, headers, body, lanes } = asked
    const agent = new Agent({ keepAlive: true, maxSockets: lanes })
    /** @type {Record<string, number>} */
    const answers = {}
    let left = asked.most
    let ended = false
    let turn = 0

    const once = () =>
      new Promise((resolve) => {
        const sent = request(urls[turn++ % urls.length] ?? '', { method, headers, agent }, (response) => {
          const status = String(response.statusCode)
          answers[status] = (answers[status] ?? 0) + 1
          response.resume().on('close', resolve)
        })
        sent.on('error', () => {
          answers['error'] = (answers['error'] ?? 0) + 1
          resolve(null)
        })
        sent.end(body)
      })
    const lane = async () => {
      for (; left > 0 && !ended; ) {
        left -= 1
        await once()
      }
    }
    process.once('message', () => {
      ended = true
    })
    void Promise.all(Array.from({ length: lanes }, lane)).then(() => {
      agent.destroy()
      process.send?.(answers, () => process.disconnect())
    })
  },
)
