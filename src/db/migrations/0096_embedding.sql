-- Up Migration

-- Whose pages may hold the checkout in a frame. They stand in a header of the page, so that nothing else may be in them.
alter table merchant
  add column frame_origins text[] not null default '{}'
    check (cardinality(frame_origins) <= 10)
    check ('' <> all (frame_origins))
    check (array_to_string(frame_origins, ' ', '*') ~ '^(https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?( |$))*$');
