import type { DeliveryAnswer } from './webhook.ts'

/** The mistakes of receivers that refuse events whose signature is right, and what to do about each. */
export const MISTAKES = {
  clock:
    'The clock of your server differs from ours by minutes, so every event looks too old or too new. Synchronize it by NTP.',
  previous_secret: 'Your server still verifies with the previous secret of this endpoint. Configure the present one.',
  other_endpoint: 'Your server verifies with the secret of another endpoint. Each endpoint has its own.',
  undecoded_secret:
    'Your code uses the text of the secret as the key. Remove `whsec_` and decode the rest from base64: these bytes are the key.',
  parsed_body:
    'Your code parses the JSON and writes it again before it verifies. Verify the bytes as they were received, before any parser.',
  signed_content:
    'Your code signs other content. It is the id, the timestamp and the body, joined by full stops: `<webhook-id>.<webhook-timestamp>.<body>`.',
  signature_format:
    'Your code compares the whole header, or hexadecimal digits. The header has one or more signatures separated by spaces, each `v1,` and base64.',
  other_headers:
    'Your code reads other headers. They are `webhook-id`, `webhook-timestamp` and `webhook-signature`; names of headers are case-insensitive.',
} as const satisfies Record<string, string>

export type Mistake = keyof typeof MISTAKES

export type DiagnosisTarget = { readonly eventId: string; readonly endpointId: string }

/** `requests`: the number of requests that were sent to find out. */
export type Diagnosis = {
  readonly requests: number
} /** `sealed_secret`: the platform has no key that opens the secret, so it cannot sign. */ & (
  | { readonly cause: 'none' | 'unknown' | 'sealed_secret' }
  | { readonly cause: 'response'; readonly response: string }
  /** `detail`: which secret, or which way of writing JSON. */
  | { readonly cause: Mistake; readonly detail: string | null }
)

/** Statuses that are about the address, the method or the load, and not about the content of the request. */
const ELSEWHERE: readonly number[] = [404, 405, 408, 410, 413, 415, 429, 502, 503, 504]

/** True for a response that can mean a wrong signature. Many frameworks respond to an exception of the verifier with 500. */
export const mayBeSignature = ({ status, error }: DeliveryAnswer): boolean =>
  error === null && status !== null && status >= 400 && !ELSEWHERE.includes(status)

export function explainDiagnosis(diagnosis: Diagnosis): string {
  switch (diagnosis.cause) {
    case 'none':
      return 'Your server accepts the event now. Send it again.'
    case 'sealed_secret':
      return 'We cannot read the secret of this endpoint, so we cannot sign any event for it. Your server is not the cause. Rotate the secret of the endpoint and configure the new one, or contact support.'
    case 'unknown':
      return 'No usual mistake explains it: your server refuses the event with the right signature, and with each wrong one that we know. Read its log for the time of these requests.'
    case 'response':
      return `The response is not about the signature: ${diagnosis.response}. The endpoint must respond with 2xx at exactly this URL. We waited 3 seconds for each response; a delivery waits 15.`
    default:
      return `${MISTAKES[diagnosis.cause]}${diagnosis.detail === null ? '' : ` Found with: ${diagnosis.detail}.`}`
  }
}
