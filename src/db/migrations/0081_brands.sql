-- Up Migration

-- How buyers see the shop, beside its name. Null: Pinrail's own colour, and no address to write to.
alter table merchant
  add column brand_color text check (brand_color ~ '^#[0-9a-f]{6}$'),
  add column support_email text check (length(support_email) <= 254);
