import { recoverMessageAddress } from 'viem'

/**
 * Returns the address whose key signed the text (EIP-191, `personal_sign`), in lower case; null if the signature is
 * invalid. A wallet that is a contract signs in another way (ERC-1271), which only its chain can check.
 */
export async function recoverSigner(text: string, signature: string): Promise<string | null> {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return null
  try {
    const signer = await recoverMessageAddress({ message: text, signature: signature as `0x${string}` })
    return signer.toLowerCase()
  } catch {
    return null
  }
}
