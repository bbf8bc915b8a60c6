/** Where the logo of that name is served. */
export const logoPath = (name: string): string => `/logos/${name}`
