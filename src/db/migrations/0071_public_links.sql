-- Up Migration

-- Made without an account. Such a link belongs to a merchant of its own, whom nobody can sign in to, until its owner
-- brings it into an account. Buyers are told that nobody knows who made it.
alter table payment_link add column anonymous boolean not null default false;

-- What people say about a link. They are not asked who they are.
create table link_report (
  id bigint generated always as identity primary key,
  payment_link text not null references payment_link,
  reason text not null check (reason in ('fraud', 'pretends', 'forbidden', 'other')),
  details text not null check (length(details) <= 1000),
  at timestamptz not null
);
create index on link_report (payment_link, id);
