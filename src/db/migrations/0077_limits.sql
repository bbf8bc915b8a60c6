-- Up Migration

-- What several processes of the api count together towards limits of requests. It is not logged: it is small, it lives
-- for an hour at most, and a crash that empties it costs nothing but the limits of one window.
create unlogged table limit_count (
  -- HMAC of limit and address, link or account: nobody's address is kept.
  key text not null,
  -- When the window ends.
  ends_at timestamptz not null,
  count integer not null,
  primary key (key, ends_at)
);
create index limit_count_by_end on limit_count (ends_at);
