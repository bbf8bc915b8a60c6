import { z } from 'zod'
import type { Platform } from '../domain/platform.ts'
import { isSafeText, isVisible } from '../domain/text.ts'

/** Pages link to it: another scheme could be a script. */
const page = z.url({
  protocol: /^https?$/,
  error: 'must be the address of a page, such as https://pay.example.com/terms',
})

/** Variables of the platform's own name and pages, for api and worker. What is not set is not shown. */
export const platformShape = {
  /** The platform's name: on every page, in the foot of mails and receipts, and in passkeys. */
  PLATFORM_NAME: z
    .string()
    .trim()
    .max(60)
    .refine((name) => isSafeText(name, 'line') && isVisible(name), 'must be one line of 1 to 60 visible characters')
    .default('Pinrail'),
  /** A PNG, JPEG or WebP picture of at most 48 KB: the path of its file. Shown on white. */
  PLATFORM_LOGO: z.string().min(1).optional(),
  /** The page that says who the platform is. Many countries require it. */
  IMPRINT_URL: page.optional(),
  /** The platform's terms of service. Live mode needs them. */
  TERMS_URL: page.optional(),
  /** The platform's privacy notice. Live mode needs it. */
  PRIVACY_URL: page.optional(),
  /** The platform's page with the state of the service. Live mode needs it. */
  STATUS_PAGE_URL: page.optional(),
  /** E-mail address at which people reach the platform. Live mode needs it. */
  SUPPORT_EMAIL: z.email().optional(),
}

type PlatformVariables = z.infer<z.ZodObject<typeof platformShape>>

/** Returns the platform without a logo, whose file only the api reads. */
export function readPlatform(variables: PlatformVariables): Platform {
  return {
    name: variables.PLATFORM_NAME,
    logo: null,
    imprint: variables.IMPRINT_URL ?? null,
    terms: variables.TERMS_URL ?? null,
    privacy: variables.PRIVACY_URL ?? null,
    status: variables.STATUS_PAGE_URL ?? null,
    support: variables.SUPPORT_EMAIL ?? null,
  }
}
