import PDFDocument from 'pdfkit'
import type { Checkout } from '../checkout/checkout.ts'
import { encodeQr } from '../kit/qr.tsx'
import { LANGUAGES, type Locale } from '../messages/locales.ts'
import type { Words } from '../messages/words.ts'
import { newest } from '../newest.ts'
import { getReceiptContent, type ReceiptContent } from './content.ts'
import { type Face, faces, hasFaces } from './fonts.ts'
import { layOutReceipt, MARGIN, type Rule, SHEET, type Sheet, type Square } from './sheet.ts'
import { FEATURES, type Placed } from './typeset.ts'

/** Each file has about 20 KB. The cache renders a receipt once for repeated requests. */
const MAX_CACHED_FILES = 100
const pdfs = newest<Promise<Buffer | null>>(MAX_CACHED_FILES)

/**
 * Renders the receipt as a PDF of one page. Returns null if a name uses a script without a face, or if the names are so
 * long that the receipt does not fit on one page.
 */
export async function renderReceiptPdf(
  checkout: Checkout,
  words: Words,
  readLogo: (name: string) => Promise<Buffer | null>,
): Promise<Buffer | null> {
  const { locale } = words
  const content = getReceiptContent(checkout, words)
  // Outside the cache, so that the cache keeps no failed read.
  const read = async (name: string | null): Promise<Buffer | null> => (name === null ? null : readLogo(name))
  const [logo, platformLogo] = await Promise.all([read(content.logo), read(content.foot.logo)])
  return pdfs(JSON.stringify([locale, content]), () => makePdf(content, { locale, logo, platformLogo }))
}

async function makePdf(
  content: ReceiptContent,
  { locale, logo, platformLogo }: { locale: Locale; logo: Buffer | null; platformLogo: Buffer | null },
): Promise<Buffer | null> {
  if (!listNames(content).every(hasFaces)) return null
  const { dir } = LANGUAGES[locale]
  const sheet = layOutReceipt(content, dir)
  if (sheet.bottom > SHEET.height - MARGIN / 2) return null
  const document = new PDFDocument({
    size: [SHEET.width, SHEET.height],
    margin: 0,
    lang: locale,
    displayTitle: true,
    // No default font: every used face is embedded.
    font: '',
    info: { Title: content.title, Producer: 'Pinrail', Creator: 'Pinrail', CreationDate: new Date(content.paidAt) },
  })
  const bytes = collectBytes(document)
  draw(document, sheet)
  drawLogo(document, logo, sheet.logo)
  drawLogo(document, platformLogo, sheet.platformLogo)
  if (content.isTest) drawTest(document)
  document.end()
  return bytes
}

function listNames({ shop, supportEmail, lines, facts, foot }: ReceiptContent): string[] {
  const values = [...lines.map(({ what }) => what), ...facts.map(({ value }) => value)]
  return [shop, supportEmail ?? '', foot.text, foot.addresses, ...values.map(({ text }) => text)]
}

function collectBytes(document: PDFKit.PDFDocument): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Buffer.concat(chunks)))
    document.on('error', reject)
  })
}

function draw(document: PDFKit.PDFDocument, { placed, rules, code }: Sheet): void {
  for (const rule of rules) drawRule(document, rule)
  for (const each of placed) drawText(document, each)
  const { data, size } = encodeQr(code.text)
  const module = code.side / size
  for (const [y, row] of data.entries())
    for (const [x, isDark] of row.entries())
      if (isDark) document.rect(code.x + x * module, code.top + y * module, module, module)
  document.fill('#000')
}

function drawLogo(document: PDFKit.PDFDocument, logo: Buffer | null, square: Square | null): void {
  if (logo === null || square === null) return
  const { x, top, side } = square
  document.image(logo, x, top, { fit: [side, side], align: 'center', valign: 'center' })
}

function drawRule(document: PDFKit.PDFDocument, { top, weight, color }: Rule): void {
  document
    .moveTo(MARGIN, top)
    .lineTo(SHEET.width - MARGIN, top)
    .lineWidth(weight)
    .stroke(color)
}

function drawText(document: PDFKit.PDFDocument, { face, text, x, baseline, style }: Placed): void {
  registerFace(document, face)
  document
    .font(face.key)
    .fontSize(style.size)
    .fillColor(style.color)
    .text(text, x, baseline, { lineBreak: false, baseline: 'alphabetic', features: FEATURES })
}

/** PDFKit accepts a parsed font, but its types do not. */
function registerFace(document: PDFKit.PDFDocument, { key, font }: Face): void {
  document.registerFont(key, font as unknown as PDFKit.Mixins.PDFFontSource)
}

/** Draws TEST across the sheet, as on the page, so that it is not mistaken for a real receipt. */
function drawTest(document: PDFKit.PDFDocument): void {
  const [latin] = faces(700)
  if (latin === undefined) throw new Error('there is no face for TEST')
  const size = 190
  registerFace(document, latin)
  document.save()
  document.rotate(-24, { origin: [SHEET.width / 2, SHEET.height / 2] })
  document.font(latin.key).fontSize(size).fillColor('#b3261e', 0.13)
  const width = document.widthOfString('TEST')
  document.text('TEST', (SHEET.width - width) / 2, SHEET.height / 2 + size * 0.36, {
    lineBreak: false,
    baseline: 'alphabetic',
  })
  document.restore()
}
