import { z } from 'zod'
import { secret } from './fields.ts'
import { Secret } from './secret.ts'

/** An origin, without a slash at its end: the platform appends its own paths. */
export const origin = z
  .url()
  .refine(isBare, 'must be scheme, host and port alone, such as https://pay.example.com: no path, no query, no user')
  .transform((value) => new URL(value).origin)

/** Returns true for a text that is not a URL, because `z.url()` has already refused it. */
function isBare(value: string): boolean {
  if (!URL.canParse(value)) return true
  const { pathname, search, hash, username, password } = new URL(value)
  return pathname === '/' && `${search}${hash}${username}${password}` === ''
}

/** Variables of the api: limits of requests, and people who sign in. */
export const peopleShape = {
  /** Requests that an account may make in each mode. More get 429. The processes count together. */
  API_REQUESTS_PER_SECOND: z.coerce.number().int().min(1).default(100),
  /** Requests with an invalid key that one IP address may make in a minute. More get 429. */
  API_REFUSALS_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  /** Sign-ins to the dashboard that one IP address may try in an hour. More get 429. */
  SIGN_INS_PER_HOUR: z.coerce.number().int().min(1).default(30),
  /** Payments that one IP address may start on the pages of links in a minute. More get 429. */
  LINK_PRESSES_PER_MINUTE: z.coerce.number().int().min(1).default(20),
  /** Payments that may be started on the page of one link in a minute. More get 429. */
  LINK_PAYMENTS_PER_MINUTE: z.coerce.number().int().min(1).default(600),
  /** Links without an account, test accounts and reports that one IP address may make in an hour. More get 429. */
  LINK_FORMS_PER_HOUR: z.coerce.number().int().min(1).default(10),
  /** Test events and redeliveries that an account may ask for in an hour, in each mode. More get 429. */
  WEBHOOK_SENDS_PER_HOUR: z.coerce.number().int().min(1).default(300),
  /** Files of payments and statements that one person may load in an hour, in all accounts together. More get 429. */
  FILES_PER_HOUR: z.coerce.number().int().min(1).default(60),
  /** Keys that one person may make or replace in an hour, in all accounts together. More get 429. */
  KEYS_PER_HOUR: z.coerce.number().int().min(1).default(20),
  /** Reads that one buyer's link may make in a minute. One network may make ten times as many. */
  LOOKS_PER_MINUTE: z.coerce.number().int().min(1).default(300),
  /** Forms that may be sent with one buyer's link in a minute. One network may send ten times as many. */
  ACTS_PER_MINUTE: z.coerce.number().int().min(1).default(30),
  /** Name of the header in which a trusted proxy puts the buyer's country (ISO 3166 alpha-2). */
  COUNTRY_HEADER: z.string().optional(),
  /** A file of countries by IP address, in the MaxMind DB format, for buyers whose country the header does not give. */
  COUNTRY_DATABASE: z.string().min(1).optional(),
  /** The deployment of the other mode: the dashboard's link to it. */
  OTHER_MODE_URL: origin.optional(),
  /** Lets any visitor of the sign-in page sign in as this person with one press. Refused in live mode. */
  DEMO_SIGN_IN: z.email().optional(),
  /**
   * The inbox of `npm start`: offered as a webhook endpoint, and linked after a sign-in link is sent. Refused in live
   * mode.
   */
  INBOX_URL: origin.optional(),
  /** The simulated wallet of `npm start`, which pays test payments in USDC. Refused in live mode. */
  SIMULATED_WALLET_URL: z.url().optional(),
}

export const mailShape = {
  /** The mail server: `smtps://user:password@host`, or in test mode `smtp://host:port`. Without it no mail is sent. */
  SMTP_URL: secret.optional(),
  MAIL_FROM: z.string().min(3).default('Pinrail <pinrail@localhost>'),
  /** The token of the bot that writes to Telegram chats, as BotFather gives it. Without it, no messages are sent to chats. */
  TELEGRAM_BOT_TOKEN: z
    .string()
    .regex(/^\d{5,20}:[\w-]{20,}$/, 'must be the token that BotFather gave')
    .transform((value) => new Secret(value))
    .optional(),
  /** URL of the Bot API: Telegram's, or a Bot API server that you run. */
  TELEGRAM_API_URL: z.url().default('https://api.telegram.org'),
}

/** Variables of the inbox of `npm start`, which receives the mails of the system. */
export const mailboxShape = {
  /** Port that receives mail for the page `/mail`; 0: any free port. Without it, no mail is received. */
  INBOX_SMTP_PORT: z.coerce.number().int().min(0).max(65535).optional(),
}
