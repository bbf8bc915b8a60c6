-- Up Migration

-- When the invitation was last mailed: anybody may make an account and invite any address, so mails are counted.
alter table invitation add column mailed_at timestamptz;
