import type { KeyService } from './kms.ts'

/**
 * Key management of Amazon and Google. Their packages are large and few deployments need them, so they are loaded only
 * if a key is there. The types below are the parts in use.
 */

type AwsSdk = {
  readonly KMSClient: new (options: object) => { send(command: object): Promise<unknown> }
  readonly GetPublicKeyCommand: new (input: { KeyId: string }) => object
  readonly SignCommand: new (input: object) => object
}

type GoogleSdk = {
  readonly KeyManagementServiceClient: new () => {
    getPublicKey(request: { name: string }): Promise<readonly { pem?: string | null }[]>
    asymmetricSign(request: object): Promise<readonly { signature?: Uint8Array | string | null }[]>
  }
}

export type Load = (name: string) => Promise<unknown>

export const loadPackage: Load = async (name) => {
  try {
    return (await import(name)) as unknown
  } catch (error) {
    throw new Error(
      `a key in this service needs the package ${name}: the images app-aws and app-gcp have it; elsewhere, install the version that ops/images names`,
      { cause: error },
    )
  }
}

function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`the key service answered no ${what}`)
  return value
}

/**
 * Opens a key of AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY), by id, ARN or alias; region and credentials as the SDK finds
 * them.
 */
export async function awsKeyService(keyId: string, load: Load): Promise<KeyService> {
  const sdk = (await load('@aws-sdk/client-kms')) as AwsSdk
  const client = new sdk.KMSClient({})
  return {
    async publicKey() {
      const answer = (await client.send(new sdk.GetPublicKeyCommand({ KeyId: keyId }))) as { PublicKey?: Uint8Array }
      return present(answer.PublicKey, 'public key')
    },
    async signDigest(digest) {
      const input = { KeyId: keyId, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' }
      const answer = (await client.send(new sdk.SignCommand(input))) as { Signature?: Uint8Array }
      return present(answer.Signature, 'signature')
    },
  }
}

/** Opens a key version of Google Cloud KMS (EC_SIGN_SECP256K1_SHA256), by its full resource name. */
export async function googleKeyService(name: string, load: Load): Promise<KeyService> {
  const sdk = (await load('@google-cloud/kms')) as GoogleSdk
  const client = new sdk.KeyManagementServiceClient()
  return {
    async publicKey() {
      const [answer] = await client.getPublicKey({ name })
      const pem = present(answer?.pem, 'public key')
      return Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
    },
    async signDigest(digest) {
      const [answer] = await client.asymmetricSign({ name, digest: { sha256: digest } })
      const signature = present(answer?.signature, 'signature')
      return typeof signature === 'string' ? Buffer.from(signature, 'base64') : signature
    },
  }
}
