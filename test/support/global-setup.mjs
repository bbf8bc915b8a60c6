import { register } from 'tsx/esm/api'

/** @type {import('../../scripts/test/services/services.ts').Services | undefined} */
let services

/** Jest loads this file without transforming it: so it is plain JavaScript, and lets tsx load the rest. */
export default async function globalSetup() {
  // `npm test` has started the services for several runs of Jest.
  if (process.env['PINRAIL_TEST_SERVICES']) return
  register()
  const { startServices } = await import('../../scripts/test/services/services.ts')
  services = await startServices()
  process.env['PINRAIL_TEST_SERVICES'] = services.url
}

/** For the teardown, which Jest loads as a separate module in the same process. */
export async function stopServices() {
  await services?.stop()
}
