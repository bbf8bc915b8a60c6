import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { GALLERY } from './gallery.ts'
import { DRAWN, galleryText, NOT_DRAWN, slugOf } from './gallery-design.ts'

const FOLDER = fileURLToPath(new URL('../../docs/gallery', import.meta.url))
const filesIn = (folder: string): string[] => readdirSync(`${FOLDER}/${folder}`).toSorted()

test('every page has its pictures in the gallery, and the gallery has no other: npm run gallery', () => {
  expect(filesIn('pages')).toEqual(GALLERY.map((name) => `${slugOf(name)}.webp`).toSorted())
  expect(readFileSync(`${FOLDER}/README.md`, 'utf8')).toBe(galleryText())
})

test('every page of the design has its page, or a reason why not', () => {
  const named = [...Object.values(DRAWN).map(({ design }) => design), ...Object.keys(NOT_DRAWN)]
  expect(filesIn('design')).toEqual([...new Set(named)].map((design) => `${design}.webp`).toSorted())
  expect(Object.keys(DRAWN).filter((name) => !GALLERY.includes(name))).toEqual([])
})
