#!/usr/bin/env node
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// `node scripts/image/shrink.mjs <folder>`: removes from an image's node_modules what no process of the platform ever
// loads. Plain JavaScript, because the stage of the Dockerfile that runs it has production packages only.

/** Packages that make a bundle of workflows. The image has the bundle already. */
const BUILD_ONLY = ['typescript', '@typescript', '@swc/core', /^@swc\/core-/, '@swc/wasm']

/** Source maps, types, sources of TypeScript, and pages for people. Licenses stay. */
const UNREAD = /(?:\.map|\.[cm]?tsx?|\.flow|\.tsbuildinfo|\.markdown|\.md)$/i
const KEPT = /^(?:licen[cs]e|notice|copying)/i

/** The folder of fonts. Receipts use the two weights that end so. */
const FONTS = '@fontsource'
const USED_FONT = /-(?:400|700)-normal\.woff$/

/** Folder of the one package that contains the binary for each machine. */
const RELEASES = '@temporalio/core-bridge/releases'
/** @type {Record<string, string>} */
const CPU = { x64: 'x86_64', arm64: 'aarch64' }
/** @type {Record<string, string>} */
const SYSTEM = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin', win32: 'pc-windows-msvc' }

/**
 * Returns megabytes (2^20 bytes) before and after.
 * @param {string} nodeModules
 * @param {{ platform: string, arch: string }} machine
 */
export function shrink(nodeModules, { platform, arch } = process) {
  const before = measureSize(nodeModules)
  const release = `${CPU[arch]}-${SYSTEM[platform]}`
  const releases = join(nodeModules, RELEASES)
  if (!existsSync(join(releases, release))) throw new Error(`${releases} must have a binary for ${release}`)
  for (const name of readdirSync(releases)) if (name !== release) remove(join(releases, name))
  for (const name of packagesIn(nodeModules))
    if (
      BUILD_ONLY.some((only) =>
        only instanceof RegExp ? only.test(name) : name === only || name.startsWith(`${only}/`),
      )
    )
      remove(join(nodeModules, name))
  const fonts = join(nodeModules, FONTS)
  for (const name of existsSync(fonts) ? readdirSync(fonts) : [])
    for (const file of readdirSync(join(fonts, name, 'files')))
      if (!USED_FONT.test(file)) remove(join(fonts, name, 'files', file))
  removeUnread(nodeModules)
  return { before, after: measureSize(nodeModules) }
}

/** @param {string} path */
const remove = (path) => rmSync(path, { recursive: true, force: true })

/** Returns packages, and the scopes before theirs. @param {string} nodeModules */
function packagesIn(nodeModules) {
  return readdirSync(nodeModules).flatMap((name) =>
    name.startsWith('@') ? [name, ...readdirSync(join(nodeModules, name)).map((inner) => `${name}/${inner}`)] : [name],
  )
}

/** @param {string} folder */
function removeUnread(folder) {
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, item.name)
    if (item.isDirectory()) removeUnread(path)
    // A link of .bin whose target was removed.
    else if (item.isSymbolicLink() ? !existsSync(path) : UNREAD.test(item.name) && !KEPT.test(item.name)) remove(path)
  }
}

/**
 * @param {string} folder
 * @returns {number} megabytes on disk, in blocks as `du` counts
 */
export function measureSize(folder) {
  /** @param {string} path @returns {number} */
  const blocks = (path) =>
    readdirSync(path, { withFileTypes: true }).reduce((sum, item) => {
      const inner = join(path, item.name)
      return sum + (item.isDirectory() ? blocks(inner) : item.isSymbolicLink() ? 0 : statSync(inner).blocks)
    }, statSync(path).blocks)
  return (blocks(folder) * 512) / 2 ** 20
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('usage: node scripts/image/shrink.mjs <folder of node_modules>')
  const { before, after } = shrink(folder)
  process.stdout.write(`node_modules: ${before.toFixed(0)} MB, now ${after.toFixed(0)} MB\n`)
}
