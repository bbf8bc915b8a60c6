export const PROBLEMS = {
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    help: 'Everything that is wrong is in `errors`, each with a JSON pointer, its own code and a message. Nothing was stored; correct the request and send it again, with the same Idempotency-Key if you like.',
  },
  invalid_json: {
    status: 400,
    title: 'The body is not valid JSON',
    help: 'Send one JSON object in UTF-8, without a byte order mark, comments or trailing commas.',
  },
  invalid_request: {
    status: 400,
    title: 'The request cannot be read',
    help: 'The request line, a header, the path or the framing of the body is malformed. A proxy in between is the usual cause.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not valid',
    help: 'Send exactly one header `Authorization: Bearer <key>`. A key that is missing, mistyped, unknown, expired or revoked gets the same response. Keys in the query are not read.',
  },
  invalid_callback: {
    status: 401,
    title: 'The callback is not authentic',
    help: 'For payment partners: the signature does not match the body, or its timestamp is too old or too far ahead.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key does not have the scope',
    help: '`required_scope` names what is missing. Create a key that has it; a key cannot grant a scope that it does not have.',
  },
  ip_not_allowed: {
    status: 403,
    title: 'The API key cannot be used from this IP address',
    help: 'The key has a list of IP addresses. Send the request from one of them, or create a key with another list.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'The request is for another host, or from another site',
    help: 'Tools of agents are at `/mcp` on the host that `detail` names, for programs. A web page of another site cannot use them.',
  },
  step_up_required: {
    status: 403,
    title: 'A person must confirm this',
    help: 'A live key cannot change the wallet, the brand, embedding, notifications or existing webhook endpoints, and cannot create keys or change the team, so that a leaked key cannot either. It can revoke keys, withdraw invitations and add webhook endpoints. A signed-in person can do the rest, at `page`.',
  },
  account_not_approved: {
    status: 403,
    title: 'The account is not approved yet',
    help: 'The operator approves an account before it takes payments; everything else works. Describe what you sell in the dashboard, at `page`. You receive an e-mail when the operator has decided.',
  },
  account_suspended: {
    status: 403,
    title: 'The account is suspended',
    help: 'The operator has suspended the account: it takes no payments. `detail` has what the operator wrote. Contact the operator; the payments that were paid before are not lost.',
  },
  resource_missing: {
    status: 404,
    title: 'There is no such object',
    help: 'The id is unknown, or belongs to another account or to the other mode: test keys see test objects, live keys see live objects.',
  },
  route_missing: {
    status: 404,
    title: 'There is no such route',
    help: 'Check the path: it begins with /v1, is lower case and has no trailing slash.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'The header `Allow` lists those that are.',
  },
  request_timeout: {
    status: 408,
    title: 'The request came too slowly',
    help: 'Headers must be complete within 10 seconds, the whole request within 30.',
  },
  payment_not_cancelable: {
    status: 409,
    title: 'The payment can no longer be canceled',
    help: 'Money has arrived, or the payment has ended. `payment_status` has its state.',
  },
  receipt_not_available: {
    status: 409,
    title: 'The payment has no receipt now',
    help: 'Only a settled payment has a receipt. It is available a few seconds after the settlement is final; until then the response has `Retry-After`. `payment_status` has the payment’s state.',
  },
  not_possible_now: {
    status: 409,
    title: 'That is not possible in the current state',
    help: '`detail` names the state and what to do first.',
  },
  limit_reached: {
    status: 409,
    title: 'The account has reached a limit',
    help: 'Delete, revoke or cancel one that you do not need. For payments, those that are `created` or `pending` count. For a higher limit of amounts, ask the operator.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    help: 'Send the same request again after `Retry-After`: it gets the response to the first.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    help: 'A body must have at most 64 KiB, counted after decompression.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not supported',
    help: 'Send `content-type: application/json`, in UTF-8, as it is or compressed with gzip, deflate or br.',
  },
  expectation_failed: {
    status: 417,
    title: 'The Expect header cannot be met',
    help: 'Only `Expect: 100-continue` is supported. Omit the header.',
  },
  amount_too_small: {
    status: 422,
    title: 'The amount is below the minimum',
    help: 'The amount must be at least `minimum`. `alternatives` names providers that take it as it is.',
  },
  amount_too_large: {
    status: 422,
    title: 'The amount is above the maximum',
    help: 'The amount must be at most `maximum`. `alternatives` names providers that take it as it is.',
  },
  currency_not_supported: {
    status: 422,
    title: 'The currency is not supported',
    help: '`GET /v1/providers` lists the currencies of each provider.',
  },
  wallet_not_configured: {
    status: 422,
    title: 'No wallet is set',
    help: 'Set the wallet that the USDC goes to: in test mode with `PUT /v1/settings/wallet`, in live mode in the dashboard.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used with another request',
    help: 'A key belongs to one request. Use a new key for each new request, and the same key only to repeat that request.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'Wait for `Retry-After` seconds. The `RateLimit` header of every response has the number of requests that are left.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    help: 'All headers together must have at most 16 KiB.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side',
    help: 'Send the request again, with the same Idempotency-Key if it had one. If it keeps failing, contact support with the request id.',
  },
  list_too_slow: {
    status: 503,
    title: 'The list takes too long',
    help: 'A list must be read within two seconds. Ask for less: a shorter time by `created[gte]` and `created[lt]`, a `status`, or rarer words in `search`.',
  },
  temporarily_unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable',
    help: 'Send the same request again after `Retry-After`. The request was not carried out in part.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>

export type ProblemCode = keyof typeof PROBLEMS

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code)
}

export const FIELD_CODES = {
  parameter_missing: 'The field is required.',
  parameter_unknown: 'The field does not exist; the message suggests the nearest one.',
  parameter_invalid: 'The value must have the type and form that the message names.',
  amount_invalid:
    'The amount must be a plain decimal number in major units, above zero: no sign, exponent, separators or leading zeros.',
  amount_precision: 'The amount must have at most the decimals of its currency: JPY has none, EUR two.',
  url_invalid: 'The URL must be allowed here; the message has the rule.',
  wallet_invalid: 'The address must be 0x and 40 hexadecimal digits.',
  wallet_checksum:
    'The address must match its EIP-55 checksum in upper and lower case: a character was probably mistyped.',
  wallet_forbidden:
    'The address must be your own wallet: not a burn address, not a token contract, not an address of the platform.',
} as const
