export const logoPath = (name: string): string => `/logos/${name}`
