import assert from 'node:assert/strict'
import { type IncomingMessage, request as open } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** A response as tests read it. */
class Page {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer

  constructor(status: number, headers: IncomingMessage['headers'], bytes: Buffer) {
    this.status = status
    this.headers = headers
    this.bytes = bytes
  }

  /** The media type, without its parameters. */
  get type(): string {
    return (this.headers['content-type'] ?? '').split(';')[0] ?? ''
  }

  get text(): string {
    return this.bytes.toString('utf8')
  }

  get body(): ReturnType<typeof JSON.parse> {
    return JSON.parse(this.text)
  }
}

/**
 * A request that is sent when it is awaited. Unlike `fetch`, it has only the headers that are set, so it can have those
 * of any browser, and it follows no redirect.
 */
class Exchange implements PromiseLike<Page> {
  readonly #url: string
  readonly #method: string
  readonly #headers: Record<string, string> = {}
  #body = ''
  #status: number | null = null

  constructor(method: string, url: string) {
    this.#method = method
    this.#url = url
  }

  set(name: string | Readonly<Record<string, string>>, value = ''): this {
    Object.assign(this.#headers, typeof name === 'string' ? { [name]: value } : name)
    return this
  }

  form(fields: string | object): this {
    this.#body = typeof fields === 'string' ? fields : new URLSearchParams({ ...fields }).toString()
    return this.set('content-type', 'application/x-www-form-urlencoded')
  }

  json(value: object): this {
    this.#body = JSON.stringify(value)
    return this.set('content-type', 'application/json')
  }

  /** Fails the test if the response has another status. */
  expect(status: number): this {
    this.#status = status
    return this
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it sends the request.
  then<A = Page, B = never>(
    done?: ((page: Page) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    // oxlint-disable-next-line promise/no-callback-in-promise -- these are the arguments of `then`.
    return this.#send().then(done, failed)
  }

  async #send(): Promise<Page> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = open(this.#url, { method: this.#method, headers: this.#headers, agent: false })
      sent.on('response', resolve).on('error', reject).end(this.#body)
    })
    const page = new Page(answer.statusCode ?? 0, answer.headers, await buffer(answer))
    if (this.#status !== null) assert.equal(page.status, this.#status, `${this.#method} ${this.#url}: ${page.text}`)
    return page
  }
}

export const browse = (origin: string) => ({
  get: (path: string) => new Exchange('GET', origin + path),
  head: (path: string) => new Exchange('HEAD', origin + path),
  post: (path: string) => new Exchange('POST', origin + path),
})
