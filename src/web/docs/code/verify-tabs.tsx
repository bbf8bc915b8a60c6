import { CodeTabs } from './code.tsx'
import type { Language } from './languages.ts'
import { VERIFY_CODE } from './verify-code.ts'

export function VerifyTabs({ chosen, at }: { chosen: Language; at: string }) {
  return <CodeTabs id="verify-code" code={VERIFY_CODE} chosen={chosen} label="Verify a webhook" at={at} />
}
