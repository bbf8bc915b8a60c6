import { stopServices } from './global-setup.mjs'

export default async function globalTeardown() {
  await stopServices()
}
