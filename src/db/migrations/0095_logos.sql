-- Up Migration

-- A shop's logo, in the database so that every process serves the same. 48 kB: every buyer of the shop loads it. Its
-- name is a hash of its bytes, so that a browser may keep it for ever.
alter table merchant
  add column logo bytea check (octet_length(logo) <= 48000),
  add column logo_name text check (logo_name ~ '^[0-9a-f]{32}\.(png|jpg|webp)$'),
  add constraint merchant_logo_named check ((logo is null) = (logo_name is null));
create index merchant_logo_name on merchant (logo_name) where logo_name is not null;
