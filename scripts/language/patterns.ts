import type { Kind } from './passages.ts'

/** Words that are not plain English, the kinds of text that must not have them, and what to write. */
export type Pattern = {
  readonly name: string
  readonly kinds: readonly Kind[]
  readonly words: RegExp
  readonly instead: string
}

const PROSE: readonly Kind[] = ['comment', 'docstring', 'markdown', 'title', 'message']

/** The end of a clause: many words are wrong there alone. */
const END = String.raw`(?=\s*(?:[.,;:)]|$))`

/**
 * Only what is wrong in nearly every sentence, so that a finding is worth reading. CONTRIBUTING.md says how to write,
 * and `npm run check:language` compares every file with this table.
 */
export const PATTERNS: readonly Pattern[] = [
  {
    name: 'British spelling',
    kinds: PROSE,
    words: /\b(?:colours?|behaviours?|cancelled|cancelling|licences?|neighbours?|recognis\w+|catalogues?)\b/i,
    instead: 'one spelling everywhere: color, behavior, canceled, license, neighbor, recognize, catalog',
  },
  { name: 'anew', kinds: PROSE, words: /\banew\b/i, instead: '"again"' },
  { name: 'for ever', kinds: PROSE, words: /\bfor\s+ever\b/i, instead: '"forever"' },
  {
    name: 'all the same',
    kinds: PROSE,
    words: new RegExp(String.raw`(?<!\b(?:is|are|be|was|were)\s+)\ball\s+the\s+same${END}`, 'i'),
    instead: '"anyway" or "still"',
  },
  {
    name: 'of its own',
    kinds: PROSE,
    words: /\bof\s+(?:its|their|his|her|our|your|my)\s+own\b/i,
    instead: '"its own …", "a dedicated …" or "a separate …"',
  },
  {
    name: 'may not',
    kinds: PROSE,
    words: /(?<!\bor\s+)\bmay\s+not\b/i,
    instead: '"must not" or "cannot" (forbidden), "might not" (possible)',
  },
  { name: 'beside', kinds: PROSE, words: /\bbeside\b/i, instead: '"also", "while", "next to" or "except for"' },
  {
    name: 'told',
    kinds: PROSE,
    words: /\b(?:told|tells)\b/i,
    instead: 'the verb: "notifies", "reports", "returns", "receives", "logs"',
  },
  { name: 'news', kinds: PROSE, words: /\bnews\b/i, instead: '"callback", "reading" or "change"' },
  { name: 'meanwhile', kinds: PROSE, words: /\bmeanwhile\b/i, instead: '"during …", "while …" or "until then"' },
  {
    name: 'by itself',
    kinds: PROSE,
    words: /\bby\s+(?:itself|themselves)\b/i,
    instead: '"automatically" or "separately"',
  },
  {
    name: 'goes on',
    kinds: PROSE,
    words: new RegExp(String.raw`\b(?:goes|go|went|gone)\s+on${END}`, 'i'),
    instead: '"continues"',
  },
  {
    name: 'is ours',
    kinds: PROSE,
    words: new RegExp(String.raw`\b(?:is|are)\s+(?:ours|an\s+operator['’]s|the\s+operator['’]s)${END}`, 'i'),
    instead: '"belongs to the platform", "an operator must decide"',
  },
  {
    name: 'nobody may',
    kinds: PROSE,
    words: /\b(?:nobody|nothing|none)\s+(?:may|must)\b/i,
    instead: 'the actor and the positive rule: "only the owner can …"',
  },
  {
    name: 'docstring that opens with a question word',
    kinds: ['docstring'],
    words:
      /^\s*(?:(?:Of|Whether|What|Where|Who|Whose|Whom|So\s+many)\b|Answers\s+(?:how|whether|what|which|where|who|when)\b)/,
    instead: 'a verb ("Returns …", "Locks …") or a noun ("True if …", "The payout’s …")',
  },
  {
    name: 'title that continues another one',
    kinds: ['title'],
    words: /^(?:and|or|but|nor|of|than|that|which|who|whom|whose)\b/,
    instead: 'a whole sentence with subject and present tense',
  },
  {
    name: 'title of less than three words',
    kinds: ['title'],
    words: /^[^\s%$]+(?:\s+[^\s%$]+)?$/,
    instead: 'a whole sentence with subject and present tense',
  },
  {
    name: 'function …Of',
    kinds: ['name'],
    words: /^(?!is|has|can|oneOf$|allOf$|anyOf$)\w+Of$/,
    instead: 'a verb and a noun: getPayout, receiptFromLog',
  },
  {
    name: 'function named by a replaced word',
    kinds: ['name'],
    words: /^(?:told|tells?|news)(?![a-z])|(?:Told|Tells?|News)(?![a-z])/,
    instead: 'the verb and its noun: notifyChannel, recordCallback',
  },
  {
    name: 'file named by no noun',
    kinds: ['path'],
    words:
      /(?<=[/-])(?:told|tell|news|anew|beside|meanwhile|stint)(?=[-./])|(?<=\/)(?:coming|going|around|watch|before|after)(?=[./])/,
    instead: 'the noun of the subject: receipts.ts, lease-backoff.ts, decorators/',
  },
]
