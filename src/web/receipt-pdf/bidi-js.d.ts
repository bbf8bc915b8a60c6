/** The used part of https://github.com/lojjic/bidi-js#readme */
declare module 'bidi-js' {
  type Bidi = {
    getEmbeddingLevels(text: string, base?: 'ltr' | 'rtl' | 'auto'): { readonly levels: Uint8Array }
    /** Returns, by index, the mirrored characters that replace brackets in right-to-left text. */
    getMirroredCharactersMap(text: string, levels: Uint8Array): Map<number, string>
  }
  export default function bidiFactory(): Bidi
}
