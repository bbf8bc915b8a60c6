import type { Page } from '../../../src/api/routes/dashboard/page.ts'
import { dashboardPages, type SiteDeps } from '../../../src/api/routes/site.ts'

/** The list of the dashboard's pages and actions. Making it reads only the URL of its dependencies. */
export function composedPages(): Page[] {
  return dashboardPages({ publicUrl: 'http://localhost:4242', newId: () => '', clock: Date.now } as unknown as SiteDeps)
}
