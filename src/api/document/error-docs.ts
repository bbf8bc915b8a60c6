import { FIELD_CODES, PROBLEMS } from '../http/problem-codes.ts'

/** Generates docs/api/errors.md. The page `/docs/errors`, to which `type` points, is made from the same two tables. */
export function errorDocs(): string {
  const problems = Object.entries(PROBLEMS).map(
    ([code, { status, title, help }]) => `## ${code}\n\n**${status}** · ${title}.\n\n${help}\n`,
  )
  const fields = Object.entries(FIELD_CODES).map(([code, text]) => `| \`${code}\` | ${text} |`)
  return [
    '# Errors',
    '',
    'Every response with a status of 400 or above is `application/problem+json` (RFC 9457): `type` (the address of the',
    'section below), `title`, `status`, `detail` (what is wrong here, and what to do), `instance`, `code` (stable, for',
    'programs), `param`, `errors` and `request_id`. This file is made from the code by `npm run docs`.',
    '',
    ...problems,
    '## Field codes',
    '',
    'In `errors`, next to `pointer` and `message`. When all have one code that is in the list above, it is the code of the',
    'response too.',
    '',
    '| code | meaning |',
    '|---|---|',
    ...fields,
    '',
  ].join('\n')
}
