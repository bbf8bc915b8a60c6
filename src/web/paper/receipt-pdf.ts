import PDFDocument from 'pdfkit'
import { codeOf } from '../look/code.ts'
import { LANGUAGES, type Locale } from '../messages/locales.ts'
import type { Words } from '../messages/words.ts'
import { newest } from '../newest.ts'
import { type Face, faces, hasFaces } from './fonts.ts'
import type { ReceiptPaper } from './receipt-paper.ts'
import { MARGIN, type Rule, receiptSheet, SHEET, type Sheet } from './receipt-sheet.ts'
import { FEATURES, type Placed } from './typeset.ts'

/** Files that are kept, of some 20 KB: who asks for the same one again and again has it made once. */
const KEPT = 100
const kept = newest<Promise<Buffer | null>>(KEPT)

/**
 * The receipt as a file of one page. Null where a name on it is in a script for which we have no face, or where its names are
 * so wide that they do not fit onto one.
 */
export async function receiptPdf(
  paper: ReceiptPaper,
  { locale }: Pick<Words, 'locale'>,
  readLogo: ReadLogo,
): Promise<Buffer | null> {
  // Read outside of what is kept, so that a failed read is not kept.
  const logo = paper.logo === null ? null : await readLogo(paper.logo)
  return kept(JSON.stringify([locale, paper]), () => makePdf(paper, { locale, logo }))
}

/** Reads the picture by its name. */
export type ReadLogo = (name: string) => Promise<Buffer | null>

async function makePdf(
  paper: ReceiptPaper,
  { locale, logo }: { locale: Locale; logo: Buffer | null },
): Promise<Buffer | null> {
  if (!textsOf(paper).every(hasFaces)) return null
  const { dir } = LANGUAGES[locale]
  const sheet = receiptSheet(paper, dir)
  if (sheet.bottom > SHEET.height - MARGIN / 2) return null
  const document = new PDFDocument({
    size: [SHEET.width, SHEET.height],
    margin: 0,
    lang: locale,
    displayTitle: true,
    // No face of its own: every one is embedded.
    font: '',
    info: { Title: paper.title, Producer: 'Pinrail', Creator: 'Pinrail', CreationDate: new Date(paper.paidAt) },
  })
  const bytes = collected(document)
  draw(document, sheet)
  if (logo !== null && sheet.logo !== null) drawLogo(document, logo, sheet.logo)
  if (paper.isTest) drawTest(document)
  document.end()
  return bytes
}

function textsOf({ shop, supportEmail, lines, facts }: ReceiptPaper): string[] {
  const values = [...lines.map(({ what }) => what), ...facts.map(({ value }) => value)]
  return [shop, supportEmail ?? '', ...values.map(({ text }) => text)]
}

function collected(document: PDFKit.PDFDocument): Promise<Buffer> {
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
  const { data, size } = codeOf(code.text)
  const module = code.side / size
  for (const [y, row] of data.entries())
    for (const [x, isDark] of row.entries())
      if (isDark) document.rect(code.x + x * module, code.top + y * module, module, module)
  document.fill('#000')
}

function drawLogo(document: PDFKit.PDFDocument, logo: Buffer, { x, top, side }: NonNullable<Sheet['logo']>): void {
  document.image(logo, x, top, { fit: [side, side], align: 'center', valign: 'center' })
}

function drawRule(document: PDFKit.PDFDocument, { top, weight, colour }: Rule): void {
  document
    .moveTo(MARGIN, top)
    .lineTo(SHEET.width - MARGIN, top)
    .lineWidth(weight)
    .stroke(colour)
}

function drawText(document: PDFKit.PDFDocument, { face, text, x, baseline, style }: Placed): void {
  registerFace(document, face)
  document
    .font(face.key)
    .fontSize(style.size)
    .fillColor(style.colour)
    .text(text, x, baseline, { lineBreak: false, baseline: 'alphabetic', features: FEATURES })
}

/** The library takes a font that was read before; its types do not say so. */
function registerFace(document: PDFKit.PDFDocument, { key, font }: Face): void {
  document.registerFont(key, font as unknown as PDFKit.Mixins.PDFFontSource)
}

/** Across it, as on the page: nobody may take this for a receipt. */
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
