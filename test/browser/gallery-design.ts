import { GALLERY } from './gallery.ts'

/** The page of the design for each page of the product, and the reason for differences. */
export type Drawn = { readonly design: string; readonly differs?: string }

/** Applies to every page. */
export const EVERYWHERE = [
  'The type is the reader’s own system font. The design was drawn where that is Inter.',
  'The foot has the languages. It has no links for help, privacy and terms: those pages do not exist.',
  'The panel names the shop’s address for questions only where the shop has given one.',
]

export const DRAWN: Readonly<Record<string, Drawn>> = {
  created: { design: 'pick', differs: 'Three ways stand open: a fold that hides one way hides it for nothing.' },
  'USDC too': { design: 'pick-open' },
  'a pin that is not offered': {
    design: 'pick-brazil',
    differs:
      'An amount in another currency is not held: the partner fixes it when the order is opened, and the page says so.',
  },
  'pinned to the banking app': { design: 'confirm-wallet-app' },
  'a method chosen': { design: 'confirm-card' },
  'back from the partner unpaid': { design: 'came-back' },
  'another method chosen while one is open': {
    design: 'open-elsewhere',
    differs: 'The title does not say “you”: the order may have been opened by whoever else has the link.',
  },
  'five minutes left': { design: 'expiring' },
  'in Arabic': {
    design: 'confirm-arabic',
    differs: 'An amount is written as the language writes it: the sign of the currency stands at its left end.',
  },
  'a UPI code': { design: 'confirm-upi-desktop' },
  'a UPI code on Android': { design: 'confirm-upi-android' },
  'a UPI code on an iPhone': { design: 'confirm-upi-phone' },
  'an address for USDC': {
    design: 'confirm-usdc',
    differs: 'A link opens a wallet on this device, and a fold names the contract: another token is lost time.',
  },
  pending: { design: 'handoff', differs: 'It does not say “in another tab”: on most devices it is the same one.' },
  'back from the partner': { design: 'returning' },
  'back from the partner for a while': { design: 'returning-slow' },
  processing: { design: 'progress' },
  'an identity check': { design: 'verification' },
  under_review: {
    design: 'under-review',
    differs: 'Without an address for questions there is no button to ask, and the shop’s own page takes its place.',
  },
  'a declined attempt': { design: 'declined' },
  expired: {
    design: 'canceled',
    differs: 'An expired payment of which nothing can come has no note about late money.',
  },
  'expired with an order open': {
    design: 'expired',
    differs: 'While an order may still be paid, the page does not say that nothing was charged.',
  },
  canceled: { design: 'canceled' },
  succeeded: { design: 'done' },
  'more than the price': { design: 'overpaid' },
  'paid late and twice': {
    design: 'surplus',
    differs:
      'The money goes back when a person has arranged it, so the tag says “held for you” and no days are promised.',
  },
  receipt: { design: 'receipt' },
  'test receipt': { design: 'receipt-test' },
  'the test bar': {
    design: 'sandbox',
    differs:
      'The bar speaks English on every page: it is the tool of a developer. It says why something is not possible.',
  },
}

/** Pages of the design that the product does not have, and why. */
export const NOT_DRAWN: Readonly<Record<string, string>> = {
  offline: 'The line is on every live page. The script shows it when the connection is lost.',
}

/** The name of a page as a file. */
export const toSlug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

/** `docs/gallery/README.md`. */
export function galleryText(): string {
  const parts = GALLERY.map((name) => {
    const { design, differs } = DRAWN[name] ?? {}
    const ours = `![${name}](pages/${toSlug(name)}.webp)`
    if (design === undefined) return `### ${name}\n\n${ours}\n`
    const reason = differs === undefined ? '' : `\n${differs}\n`
    return `### ${name}\n\n${ours}\n\nThe design, \`${design}\`:\n\n![${design}](design/${design}.webp)\n${reason}`
  })
  const missing = Object.entries(NOT_DRAWN).map(([design, why]) => `- \`${design}\`: ${why}`)
  return `# The pages of the checkout

Every page, on a desktop and on a phone, light and dark, and under it the page of the design after which it was made.
\`npm run gallery\` takes the pictures from the pages that the browser tests check.

What differs everywhere, and why:

${EVERYWHERE.map((line) => `- ${line}`).join('\n')}

Pages of the design that are no page here:

${missing.join('\n')}

${parts.join('\n')}`
}
