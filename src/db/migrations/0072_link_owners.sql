-- Up Migration

-- Who made a link without an account has a secret address to follow it. Only its digest is stored. A tenant sees nothing
-- of this table: the secret is all that says whose the link is, until it is brought into an account.
create table link_owner (
  payment_link text primary key references payment_link,
  digest bytea not null unique check (length(digest) = 32),
  -- Of the ticket with which a person who signs in brings the link into an account: one hour, once.
  ticket_digest bytea unique check (length(ticket_digest) = 32),
  ticket_ends_at timestamptz,
  -- From then on the account is the owner, and the secret address changes nothing any more.
  claimed_at timestamptz,
  check ((ticket_digest is null) = (ticket_ends_at is null))
);

-- Links without an account are counted by the wallet that they pay to.
create index anonymous_link_of_wallet on payment_link (lower(wallet), created_at) where anonymous;
