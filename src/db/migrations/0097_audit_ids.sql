-- Up Migration

-- An entry of the audit log has an id of its own in answers and on pages: the running number counts the entries of all
-- accounts together, and would tell each of them how much is done by the others. The number still puts them in order.
-- What is there gets a TypeID like every other: 48 bits of time, version 7, the rest random, in base 32.
create function audit_id(at timestamptz) returns text language plpgsql volatile as $$
declare
  random text := replace(gen_random_uuid()::text, '-', '');
  hex text := lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(random, 14);
  bits bit(130) := B'00' || ('x' || hex)::bit(128);
  written text := '';
begin
  for place in 0..25 loop
    written := written || substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from place * 5 + 1 for 5)::int + 1, 1);
  end loop;
  return 'aud_' || written;
end $$;

-- The default is for a process of before this migration, which names none.
alter table audit_entry add column public_id text;
alter table audit_entry disable trigger audit_is_kept;
update audit_entry set public_id = audit_id(at);
alter table audit_entry enable trigger audit_is_kept;
alter table audit_entry
  alter column public_id set default audit_id(clock_timestamp()),
  alter column public_id set not null,
  add constraint audit_entry_public_id_form check (public_id ~ '^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$');
create unique index on audit_entry (public_id);
