/** The programs that each image runs. `npm run build` compiles them and every file that they import. */
export const ENTRIES = {
  app: ['src/main/api.ts', 'src/main/worker.ts', 'src/main/codec.ts', 'src/operator/pinrail.ts'],
  sandbox: ['src/main/sandbox.ts', 'src/main/inbox.ts', 'scripts/prepare-from-environment.ts'],
} as const

export type ImageName = keyof typeof ENTRIES
