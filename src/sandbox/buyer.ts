import { type Button, type Form, type Page, readPage } from './forms.ts'

/** A buyer who pays over plain HTTP, by the forms of the checkout and the partner's pages, without JavaScript. */

export type BuyerOptions = {
  /** The method to pick, as the checkout names it: `card`, `upi`, …. Default: the first that the page offers. */
  readonly method?: string
  readonly press?: string
  /** The sandbox's URL, whose UPI app opens UPI links instead of a phone's. */
  readonly sandboxUrl?: string
  readonly log?: (line: string) => void
}

export type Bought = {
  readonly partnerPage: string
  readonly finalUrl: string
}

/** More than any payment needs. Then the checkout has a loop. */
const MAX_STEPS = 15
const MAX_REDIRECTS = 10
const ANSWER_TIMEOUT_MS = 30_000

/** Buttons that do not lead to a payment: countries, languages, cancellation, the sandbox's failure cases. */
const NOT_A_PAYMENT =
  /cancel|decline|fail|abort|back|country|region|language|locale|device|simulate|sandbox|expire|late|under|over|twice|slow|hold|check_|refund/i

/** Pays as a buyer. Throws with the URL and title of a page from which nothing leads on. */
export async function payAtCheckout(checkoutUrl: string, options: BuyerOptions = {}): Promise<Bought> {
  const browser = createBrowser(options.log ?? (() => undefined))
  const { origin } = new URL(checkoutUrl)
  const isCheckout = (url: string): boolean => new URL(url).origin === origin
  let partnerPage: string | null = null
  let page = await browser.open(checkoutUrl)
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (isCheckout(page.url) && partnerPage !== null) return { partnerPage, finalUrl: page.url }
    if (!isCheckout(page.url)) partnerPage ??= page.url
    const next = isCheckout(page.url) ? nextAtCheckout(page, options) : nextAtPartner(page, options.press ?? 'pay')
    if (next === null) throw new Error(`no form or link leads on from ${page.url} ("${page.title}")`)
    page = 'link' in next ? await browser.open(next.link) : await browser.submit(next)
  }
  throw new Error(`the checkout does not end within ${MAX_STEPS} steps; the last page is ${page.url} ("${page.title}")`)
}

type Submission = {
  readonly form: Form
  readonly button: Button | null
  readonly chosen: Readonly<Record<string, string>>
}
type Next = Submission | { readonly link: string }

function nextAtCheckout(page: Page, options: BuyerOptions): Next | null {
  const forms = page.forms.filter((form) => form.method === 'post')
  const ways = forms.flatMap((form) => listWays(form)).filter(({ form, button }) => !leadsElsewhere(form, button))
  const { method } = options
  const picked = method === undefined ? undefined : ways.find((way) => offers(way, method))
  const methodLinks = page.links.filter((each) => methodIn(each) !== null)
  const pickedLink = methodLinks.find((each) => methodIn(each) === method)
  if (picked === undefined && pickedLink !== undefined) return { link: pickedLink }
  const way = picked ?? ways[0]
  if (way !== undefined) return { ...way, chosen: choose(way.form, method) }
  const link = methodLinks[0] ?? partnerLinks(page, options)[0]
  return link === undefined ? null : { link }
}

/**
 * Returns the method that a link picks: `?method=card`, or `?method=card_partner.card` if several partners offer one.
 */
function methodIn(link: string): string | null {
  const method = link.startsWith('http') ? new URL(link).searchParams.get('method') : null
  return method?.split('.').pop() ?? null
}

function nextAtPartner(page: Page, press: string): Next | null {
  const ways = page.forms.flatMap((form) => listWays(form))
  // An identity check follows the first press. The buyer passes it unless `press` is a button of that page.
  const way =
    ways.find(({ button }) => button?.value === press) ?? ways.find(({ button }) => button?.value === 'verify')
  if (way !== undefined) return { ...way, chosen: choose(way.form, undefined) }
  const back = page.links.find((link) => link.startsWith('http'))
  return back === undefined ? null : { link: back }
}

function listWays(form: Form): { form: Form; button: Button | null }[] {
  return form.buttons.length === 0 ? [{ form, button: null }] : form.buttons.map((button) => ({ form, button }))
}

function leadsElsewhere(form: Form, button: Button | null): boolean {
  const path = new URL(form.url).pathname.split('/').pop() ?? ''
  return NOT_A_PAYMENT.test(`${button?.name ?? ''} ${button?.value ?? ''} ${path}`)
}

function offers({ form, button }: { form: Form; button: Button | null }, method: string): boolean {
  return (
    button?.value === method ||
    form.choices.some((choice) => choice.value === method) ||
    form.fields.some(([, value]) => value === method)
  )
}

/** Picks one value for each group of choices: the wanted method, else the ticked one, else the first. */
function choose(form: Form, method: string | undefined): Record<string, string> {
  const names = [...new Set(form.choices.map((choice) => choice.name))]
  return Object.fromEntries(
    names.map((name) => {
      const group = form.choices.filter((choice) => choice.name === name)
      const choice = group.find(({ value }) => value === method) ?? group.find(({ isChecked }) => isChecked) ?? group[0]
      return [name, choice?.value ?? '']
    }),
  )
}

/** Returns links from the checkout to the partner: a UPI link, or a page of another origin. */
function partnerLinks(page: Page, { sandboxUrl }: BuyerOptions): string[] {
  const { origin } = new URL(page.url)
  return page.links.flatMap((link) => {
    if (link.startsWith('upi://pay?') && sandboxUrl !== undefined)
      return [`${sandboxUrl}/local-partner/upi/pay${link.slice('upi://pay'.length)}`]
    return /^https?:.*\/pay\//.test(link) && new URL(link).origin !== origin ? [link] : []
  })
}

function createBrowser(log: (line: string) => void) {
  /** Cookies by host and port, so that those of one site do not reach another. */
  const cookies = new Map<string, Map<string, string>>()

  async function load(url: string, form: URLSearchParams | null): Promise<Page> {
    let request = { url, form }
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects += 1) {
      const answer = await ask(request.url, request.form)
      const location = answer.headers.get('location')
      if (answer.status < 300 || answer.status >= 400 || location === null) {
        const text = await answer.text()
        if (answer.status >= 400) throw new Error(`${request.url} answered ${answer.status}: ${text.slice(0, 300)}`)
        return readPage(request.url, text)
      }
      await answer.body?.cancel()
      const isRepeated = answer.status === 307 || answer.status === 308
      request = { url: new URL(location, request.url).href, form: isRepeated ? request.form : null }
    }
    throw new Error(`too many redirects from ${url}`)
  }

  async function ask(url: string, form: URLSearchParams | null): Promise<Response> {
    const { host, origin } = new URL(url)
    const jar = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    log(`${form === null ? 'GET' : 'POST'} ${url}`)
    const answer = await fetch(url, {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...(form === null ? {} : { origin }) },
      ...(form === null ? {} : { body: form }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? []
      if (name !== '') jar.set(name.trim(), value)
    }
    return answer
  }

  return {
    open: (url: string): Promise<Page> => load(url, null),
    submit({ form, button, chosen }: Submission): Promise<Page> {
      const fields = new URLSearchParams(form.fields.map(([name, value]) => [name, value]))
      for (const [name, value] of Object.entries(chosen)) fields.set(name, value)
      if (button !== null && button.name !== '') fields.append(button.name, button.value)
      if (form.method === 'post') return load(form.url, fields)
      return load(`${form.url.split('?')[0] ?? form.url}?${fields.toString()}`, null)
    },
  }
}
