import { type ApiCall, hasVariable, splitUrl } from './call.ts'
import { CALL_LANGUAGES, type CallLanguage, type Code } from './languages.ts'
import { literal } from './literal.ts'

/**
 * Writes a call in each language, as a complete program without dependencies that prints the response. Keys and ids
 * come from the environment, so that no shell history keeps them.
 */
export function callCode(call: ApiCall): Code {
  return CALL_LANGUAGES.map((language) => ({ language, text: WRITERS[language](call) }))
}

const WRITERS: Readonly<Record<CallLanguage, (call: ApiCall) => string>> = {
  curl: curlCode,
  typescript: typescriptCode,
  python: pythonCode,
  go: goCode,
  php: phpCode,
}

/** Lists the headers except for the key. */
function listHeaders({ headers, body }: ApiCall): [string, string][] {
  return [...(body === null ? [] : [['content-type', 'application/json'] as const]), ...headers].map(
    ([name, value]) => [name, value] as [string, string],
  )
}

function curlCode(call: ApiCall): string {
  const { method, url, body } = call
  const quote = hasVariable(url) ? '"' : "'"
  const address = splitUrl(url)
    .map(({ text, variable }) => (variable === null ? text : `${text}$${variable}`))
    .join('')
  // Without -g, curl reads brackets as a range of URLs.
  const literally = url.includes('[') ? '-g ' : ''
  const parts = [
    `curl -sS ${literally}${method === 'GET' || (method === 'POST' && body !== null) ? '' : `-X ${method} `}${quote}${address}${quote}`,
    '-H "authorization: Bearer $SECRET_KEY"',
    ...listHeaders(call).map(([name, value]) => `-H '${name}: ${value}'`),
  ]
  if (body !== null) parts.push(`-d '${literal(body, 'json', 2).replaceAll("'", "'\\''")}'`)
  return parts.join(' \\\n  ')
}

function typescriptCode(call: ApiCall): string {
  const { method, url, body } = call
  const address = hasVariable(url)
    ? `\`${splitUrl(url)
        .map(({ text, variable }) => (variable === null ? text : `${text}\${process.env.${variable}}`))
        .join('')}\``
    : `'${url}'`
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    '    authorization: `Bearer ${process.env.SECRET_KEY}`,',
    ...listHeaders(call).map(([name, value]) => `    '${name}': '${value}',`),
    '  },',
    ...(body === null ? [] : [`  body: JSON.stringify(${literal(body, 'typescript', 2)}),`]),
  ]
  return [`const response = await fetch(${address}, {`, ...options, '})', 'console.log(await response.text())'].join(
    '\n',
  )
}

function pythonCode(call: ApiCall): string {
  const { method, url, body } = call
  const address = hasVariable(url)
    ? `f"${splitUrl(url)
        .map(({ text, variable }) => (variable === null ? text : `${text}{os.environ['${variable}']}`))
        .join('')}"`
    : `"${url}"`
  return [
    ...(body === null ? [] : ['import json']),
    'import os',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${address},`,
    `    method="${method}",`,
    '    headers={',
    `        "authorization": f"Bearer {os.environ['SECRET_KEY']}",`,
    ...listHeaders(call).map(([name, value]) => `        "${name}": "${value}",`),
    '    },',
    ...(body === null ? [] : [`    data=json.dumps(${literal(body, 'python', 4)}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.read().decode())',
  ].join('\n')
}

function goCode(call: ApiCall): string {
  const { method, url, body } = call
  const address = splitUrl(url)
    .map(({ text, variable }) => `"${text}"${variable === null ? '' : ` + os.Getenv("${variable}")`}`)
    .join(' + ')
    .replace(/ \+ ""$/, '')
  const onError = ['\tif err != nil {', '\t\tpanic(err)', '\t}']
  return [
    'package main',
    '',
    'import (',
    ...['fmt', 'io', 'net/http', 'os', ...(body === null ? [] : ['strings'])].map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...(body === null
      ? []
      : [`\tbody := strings.NewReader(\`${literal(body, 'json', 0).replaceAll('`', '\\u0060')}\`)`]),
    `\trequest, err := http.NewRequest("${method}", ${address}, ${body === null ? 'nil' : 'body'})`,
    ...onError,
    '\trequest.Header.Set("authorization", "Bearer "+os.Getenv("SECRET_KEY"))',
    ...listHeaders(call).map(([name, value]) => `\trequest.Header.Set("${name}", "${value}")`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    ...onError,
    '\tdefer response.Body.Close()',
    '\tanswer, err := io.ReadAll(response.Body)',
    ...onError,
    '\tfmt.Println(string(answer))',
    '}',
  ].join('\n')
}

function phpCode(call: ApiCall): string {
  const { method, url, body } = call
  const address = splitUrl(url)
    .map(({ text, variable }) => `'${text}'${variable === null ? '' : ` . getenv('${variable}')`}`)
    .join(' . ')
    .replace(/ \. ''$/, '')
  return [
    '<?php',
    `echo file_get_contents(${address}, false, stream_context_create(['http' => [`,
    `    'method' => '${method}',`,
    "    'header' => [",
    "        'authorization: Bearer ' . getenv('SECRET_KEY'),",
    ...listHeaders(call).map(([name, value]) => `        '${name}: ${value}',`),
    '    ],',
    ...(body === null ? [] : [`    'content' => json_encode(${literal(body, 'php', 4)}),`]),
    "    'ignore_errors' => true, // so that a refusal is printed too",
    ']]));',
  ].join('\n')
}
