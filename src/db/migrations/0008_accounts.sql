-- Accounts: the people of a merchant, how they sign in, mail, and the logs of what people and operators changed.
-- A merchant's request by API key sees none of it but the audit log: the other tables have no grant for pinrail_tenant.

create table person (
  id text primary key,
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  created_at timestamptz not null default now(),
  seen_at timestamptz
);
comment on table person is
  'Somebody who signs in, by a link in a mail or with a passkey. There are no passwords. A person can belong to several accounts.';
comment on column person.seen_at is 'When the person last signed in; null: never.';

create table membership (
  merchant_id text not null references merchant,
  person_id text not null references person on delete cascade,
  role text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (merchant_id, person_id)
);
comment on table membership is 'A person''s place in an account. The role says what they can do there.';
create index on membership (person_id);

-- By address and not by person: an invitation must not reveal whether somebody with the address signs in here.
create table invitation (
  merchant_id text not null references merchant,
  email text not null check (email = lower(email) and length(email) between 3 and 254),
  role text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  mailed_at timestamptz,
  primary key (merchant_id, email)
);
comment on table invitation is
  'An address that an account has invited. An ended invitation stays for 30 days, because its mail counts.';
comment on column invitation.mailed_at is
  'When it was last mailed; null: never. Anybody can create an account and invite any address, so mails are limited.';
create index on invitation (email);

create table account_claim (
  merchant_id text primary key references merchant,
  digest bytea not null unique check (length(digest) = 32),
  key_id text not null references api_key,
  ends_at timestamptz not null
);
comment on table account_claim is
  'A test account that a program created, and that no person owns yet. Whoever signs in and has the secret becomes its owner; the row is then deleted.';
comment on column account_claim.digest is 'SHA-256 of the secret: a reader of this table cannot claim the account.';
comment on column account_claim.key_id is 'The key that the program got. It expires with the claim, unless the account is claimed.';
create index on account_claim (ends_at);

create table session (
  id text primary key,
  digest bytea not null unique check (length(digest) = 32),
  person_id text not null references person on delete cascade,
  merchant_id text references merchant,
  how text not null check (how in ('link', 'passkey', 'demo')),
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null,
  used_at timestamptz not null,
  confirmed_at timestamptz not null,
  ended_at timestamptz
);
comment on table session is 'A browser in which a person is signed in.';
comment on column session.digest is 'SHA-256 of the cookie''s token: a reader of this table cannot sign in with it.';
comment on column session.merchant_id is 'The account that the pages show; null: the person has not opened one.';
comment on column session.how is '`demo`: the button of the demo merchant.';
comment on column session.confirmed_at is
  'When the person last confirmed it with a fresh link or a passkey. Changes of wallet, keys and members require that.';
comment on column session.ended_at is 'When it was ended; null: it was not. It also ends by age and by disuse.';
create index on session (person_id) where ended_at is null;
create index on session (created_at);

create table confirmation (
  id text primary key,
  session_id text not null references session on delete cascade,
  sealed text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
comment on table confirmation is
  'A request that a person must confirm first. It is carried out after the confirmation, in the same session.';
comment on column confirmation.sealed is
  'The address, the form and what it changes in words. Sealed, because a form can hold a secret.';
create index on confirmation (session_id, created_at);
create index on confirmation (expires_at);

create table sign_in_link (
  id text primary key,
  email text not null,
  digest bytea not null unique check (length(digest) = 32),
  code_digest bytea not null check (length(code_digest) = 32),
  browser_digest bytea not null unique check (length(browser_digest) = 32),
  asked_from text not null,
  code_tries int not null default 0,
  session_id text references session on delete cascade,
  confirmation_id text references confirmation on delete set null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index on sign_in_link (session_id);
create index on sign_in_link (confirmation_id);
comment on table sign_in_link is 'A link and a code that were mailed to an address. Either works once, in the browser that asked for it.';
comment on column sign_in_link.digest is 'The digest of the token in the link.';
comment on column sign_in_link.code_digest is 'The digest of the code in the same mail.';
comment on column sign_in_link.browser_digest is 'The digest of the cookie of the browser that asked: the link signs in no other browser.';
comment on column sign_in_link.asked_from is 'The network that asked, or `known`: a browser in which the address signed in before.';
comment on column sign_in_link.code_tries is 'How often a code was entered for it.';
comment on column sign_in_link.session_id is 'The session that it confirms; null: it opens one.';
comment on column sign_in_link.confirmation_id is 'The request that continues after it; null: it signs in, or the request has expired.';
create index on sign_in_link (email, created_at);
create index on sign_in_link (created_at);

create table passkey (
  id text primary key,
  person_id text not null references person on delete cascade,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz
);
comment on table passkey is 'A passkey (WebAuthn credential) of a person.';
comment on column passkey.id is 'The id of the credential in base64url.';
comment on column passkey.counter is 'The signature counter that the authenticator last reported.';
create index on passkey (person_id);

create table answered_challenge (
  digest bytea primary key check (length(digest) = 32),
  expires_at timestamptz not null
);
comment on table answered_challenge is
  'A passkey challenge that was answered, until it expires: an answer counts once. Challenges are signed and not stored before.';
create index on answered_challenge (expires_at);

create table wallet_stop (
  digest bytea primary key check (length(digest) = 32),
  merchant_id text not null references merchant,
  livemode boolean not null,
  person_id text not null references person on delete cascade,
  next_at timestamptz not null
);
comment on table wallet_stop is
  'A link by which a person who was notified of a planned change of wallet stops that change.';
comment on column wallet_stop.digest is 'SHA-256 of the token in the link.';
comment on column wallet_stop.next_at is 'The `next_at` of the wallet: it names the change. The link works for no other.';
create index on wallet_stop (next_at);

create table mail (
  id text primary key,
  sealed text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  next_at timestamptz not null,
  tries int not null default 0,
  failure text
);
comment on table mail is 'A mail to send, written in the transaction that is its reason.';
comment on column mail.sealed is
  'Recipient and content, sealed because it can hold a link that signs in; null: it was sent, or given up.';
comment on column mail.expires_at is 'After this the mail is of no use and is given up.';
comment on column mail.next_at is 'When a worker can try to send it: a worker that takes it moves this ahead.';
comment on column mail.failure is 'Why the last try failed, or why it was given up; null: no failure.';
create index mail_due on mail (next_at) where sealed is not null;
create index on mail (created_at);
create trigger wakes_worker after insert on mail for each statement execute function wake('pinrail_work', 'mail');

create table audit_entry (
  id bigint generated always as identity primary key,
  public_id text not null constraint audit_entry_public_id_form check (public_id ~ '^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text not null references merchant,
  actor text not null,
  action text not null,
  data jsonb not null,
  ip text not null,
  at timestamptz not null default now()
);
comment on table audit_entry is 'A change that a person or an API key made to an account. Entries cannot be changed or deleted.';
comment on column audit_entry.id is 'The order of the entries. It counts those of all accounts, so no answer shows it.';
comment on column audit_entry.public_id is 'The id in answers and on pages.';
comment on column audit_entry.actor is 'The id of the person or of the API key: no name and no address, which a person can have deleted.';
comment on column audit_entry.data is 'Ids and settings: no secret and no name.';
comment on column audit_entry.ip is 'The address from which the request came.';
create index on audit_entry (merchant_id, id);
create index on audit_entry (actor, action, at);
create unique index on audit_entry (public_id);

create function audit_is_kept() returns trigger language plpgsql as $$
begin
  raise exception 'entries of the audit log are not changed';
end $$;
create trigger audit_is_kept before update or delete on audit_entry for each row execute function audit_is_kept();

alter table audit_entry enable row level security;
create policy own on audit_entry to pinrail_tenant using (merchant_id = tenant_merchant());
grant select, insert on audit_entry to pinrail_tenant;

create table operator_action (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  merchant_id text references merchant,
  livemode boolean not null,
  operator text not null,
  reason text not null,
  kind text not null,
  data jsonb not null
);
comment on table operator_action is 'A change that an operator made with the command `pinrail`, and why. No merchant sees it. Rows cannot be changed or deleted.';
comment on column operator_action.merchant_id is 'Null: it concerns the deployment, such as a lane or a treasury.';
comment on column operator_action.operator is 'The name that the operator gave.';
create index on operator_action (merchant_id, id);

create function operator_action_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'what operators did is append-only';
end $$;
create trigger operator_action_is_append_only before update or delete on operator_action
  for each row execute function operator_action_is_append_only();
