/** A harmful value of each setting that a session must have. */
export const OTHERWISE: Readonly<Record<string, string>> = {
  search_path: 'pg_catalog',
  DateStyle: 'German',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Asia/Kolkata',
  bytea_output: 'escape',
  extra_float_digits: '-10',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  array_nulls: 'off',
  row_security: 'off',
  gin_fuzzy_search_limit: '1',
  exit_on_error: 'on',
  idle_session_timeout: '1s',
}
