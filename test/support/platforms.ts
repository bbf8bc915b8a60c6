import type { Platform } from '../../src/domain/platform.ts'

/** Configured nothing. */
export const PLAIN_PLATFORM: Platform = {
  name: 'Pinrail',
  logo: null,
  imprint: null,
  terms: null,
  privacy: null,
  status: null,
  support: null,
}

/** Configured everything. */
export const PLATFORM: Platform = {
  name: 'Quayline Payments',
  logo: `${'0a'.repeat(16)}.png`,
  imprint: 'https://quayline.example/imprint',
  terms: 'https://quayline.example/terms',
  privacy: 'https://quayline.example/privacy',
  status: 'https://status.quayline.example',
  support: 'help@quayline.example',
}
