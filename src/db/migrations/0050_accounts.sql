-- Up Migration

-- People sign in with a link that is sent to their address, or with a passkey. There are no passwords. A person may
-- belong to several accounts; an account is a merchant. No grant for pinrail_tenant: a merchant's request by API key
-- sees nothing of people, but for the log of what they changed.
create table person (
  id text primary key,
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  created_at timestamptz not null default now(),
  seen_at timestamptz
);

create table membership (
  merchant_id text not null references merchant,
  person_id text not null references person on delete cascade,
  role text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (merchant_id, person_id)
);
create index on membership (person_id);

-- By address, so that inviting somebody tells nothing about whether that address signs in here.
create table invitation (
  merchant_id text not null references merchant,
  email text not null check (email = lower(email) and length(email) between 3 and 254),
  role text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (merchant_id, email)
);
create index on invitation (email);

-- The cookie's token is stored as its SHA-256: who reads this table cannot sign in with it.
create table session (
  id text primary key,
  digest bytea not null unique check (length(digest) = 32),
  person_id text not null references person on delete cascade,
  -- The account that is looked at; null until the person belongs to one.
  merchant_id text references merchant,
  how text not null check (how in ('link', 'passkey', 'demo')),
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null,
  used_at timestamptz not null,
  -- When the person was last confirmed by a fresh link or passkey: changes of wallet, keys and members ask for it.
  confirmed_at timestamptz not null,
  ended_at timestamptz
);
create index on session (person_id) where ended_at is null;
create index on session (created_at);

create table sign_in_link (
  id text primary key,
  email text not null,
  -- Of the token in the link, of the code beside it, and of the cookie of the browser that asked: a link that is
  -- opened elsewhere signs nobody in.
  digest bytea not null unique check (length(digest) = 32),
  code_digest bytea not null check (length(code_digest) = 32),
  browser_digest bytea not null unique check (length(browser_digest) = 32),
  code_tries int not null default 0,
  -- The session that it confirms; null: it opens one.
  session_id text references session on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index on sign_in_link (email, created_at);
create index on sign_in_link (created_at);

create table passkey (
  -- The credential's id, base64url.
  id text primary key,
  person_id text not null references person on delete cascade,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz
);
create index on passkey (person_id);

-- Challenges are signed and not stored; one that was answered is kept here until it has ended, so that the answer
-- counts once.
create table answered_challenge (
  digest bytea primary key check (length(digest) = 32),
  expires_at timestamptz not null
);
create index on answered_challenge (expires_at);

-- Mail that is to be sent, written in the transaction that is the reason for it. The content is sealed, because it may
-- hold a link that signs in, and is wiped when it has been sent or given up.
create table mail (
  id text primary key,
  sealed text,
  created_at timestamptz not null,
  -- After it the mail is of no use.
  expires_at timestamptz not null,
  next_at timestamptz not null,
  tries int not null default 0,
  sent_at timestamptz,
  failure text
);
create index mail_due on mail (next_at) where sealed is not null;
create index on mail (created_at);

-- Who changed what, from where. Nothing in it may be changed or deleted.
create table audit_entry (
  id bigint generated always as identity primary key,
  merchant_id text not null references merchant,
  -- The person or, for an API key, its id; no name and no address, which a person may have deleted.
  actor text not null,
  action text not null,
  data jsonb not null,
  ip text not null,
  at timestamptz not null default now()
);
create index on audit_entry (merchant_id, id);
alter table audit_entry enable row level security;
create policy own on audit_entry to pinrail_tenant using (merchant_id = tenant_merchant());
grant select, insert on audit_entry to pinrail_tenant;

create function audit_is_kept() returns trigger language plpgsql as $$
begin
  raise exception 'entries of the audit log are not changed';
end $$;
create trigger audit_is_kept before update or delete on audit_entry for each row execute function audit_is_kept();

-- The list of what waits for a person reads the inbox of partners' news. A merchant sees of its own that they are
-- there, and nothing of what they say.
alter table partner_event enable row level security;
create policy own on partner_event for select to pinrail_tenant
  using (exists (select 1 from attempt where attempt.id = attempt_id));
grant select (attempt_id, provider, received_at, applied_at) on partner_event to pinrail_tenant;
