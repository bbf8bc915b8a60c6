/** The stream of an open page. */
export type Stream = {
  readonly headers: Headers
  /** The id of the next event that was not read yet. */
  readonly next: () => Promise<string>
  /** The ids of all events received. */
  readonly received: () => readonly string[]
  /** Resolves when the server has ended the response. */
  readonly ended: Promise<void>
  readonly close: () => Promise<void>
}

export async function openStream(url: string, lastEventId?: string): Promise<Stream> {
  const ending = new AbortController()
  const response = await fetch(url, {
    signal: ending.signal,
    headers: { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  })
  if (response.status !== 200 || response.body === null) throw new Error(`${url}: ${response.status}`)
  const received: string[] = []
  let taken = 0
  let wake = (): void => undefined
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    let text = ''
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString()
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const id = /^id: (.*)$/m.exec(event)?.[1]
        if (id !== undefined) received.push(id)
      }
      wake()
    }
  }
  const reading = read(response.body)
  const closed = reading.catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
  return {
    headers: response.headers,
    async next() {
      while (received.length <= taken) await new Promise<void>((resolve) => (wake = resolve))
      return received[taken++] ?? ''
    },
    received: () => received,
    ended: reading,
    close: async () => {
      ending.abort()
      await closed
    },
  }
}
