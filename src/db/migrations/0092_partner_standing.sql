-- Up Migration

-- Whether a partner works, as all processes know it: a row for each that was ever suspected. Written when something goes
-- wrong, or comes back; a payment that works writes nothing here.
create table partner_standing (
  provider text primary key,
  down_since timestamptz,
  why text check (why in ('silent', 'refuses_us', 'opens_nothing')),
  -- The payments whose calls went wrong of late: [{paymentId, merchantId, at}].
  suspects jsonb not null default '[]',
  misses smallint not null default 0,
  answers smallint not null default 0,
  falls smallint not null default 0,
  fell_at timestamptz,
  -- When the partner is asked a question of our own; whoever asks moves it ahead, so that one process asks.
  ask_at timestamptz,
  check ((down_since is null) = (why is null))
);
