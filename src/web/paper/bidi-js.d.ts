/** What we use of it: https://github.com/lojjic/bidi-js#readme */
declare module 'bidi-js' {
  type Bidi = {
    getEmbeddingLevels(text: string, base?: 'ltr' | 'rtl' | 'auto'): { readonly levels: Uint8Array }
    /** By index, the characters that are drawn in place of brackets which stand in text from the right. */
    getMirroredCharactersMap(text: string, levels: Uint8Array): Map<number, string>
  }
  export default function bidiFactory(): Bidi
}
