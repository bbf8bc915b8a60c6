import { z } from 'zod'
import { Secret } from './secret.ts'

/** Variables of the api about people who sign in. */
export const peopleShape = {
  /** Tries to sign in to the dashboard that one address may make in an hour. More get 429. */
  SIGN_INS_PER_HOUR: z.coerce.number().int().min(1).default(30),
  /** The deployment of the other mode: the dashboard's link to it. */
  OTHER_MODE_URL: z.url().optional(),
  /** Whoever opens the sign-in page may enter as this person with one press. Refused in live mode. */
  DEMO_SIGN_IN: z.email().optional(),
}

/** Variables of the worker, which sends the mails. */
export const mailShape = {
  /** The mail server: `smtps://user:password@host`, or `smtp://host:port` on this machine. Without it no mail is sent. */
  SMTP_URL: z
    .string()
    .min(1)
    .transform((value) => new Secret(value))
    .optional(),
  /** Who the mails are from. */
  MAIL_FROM: z.string().min(3).default('Pinrail <pinrail@localhost>'),
}
