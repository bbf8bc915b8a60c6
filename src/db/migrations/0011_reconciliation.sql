-- Reconciliation: when the rows of payments, books and chain were last compared with each other, and what did not agree.

create table reconciliation (
  is_only boolean primary key default true check (is_only),
  due_at timestamptz not null default now(),
  done_at timestamptz not null default now()
);
comment on table reconciliation is
  'When the invariants of src/db/invariants are compared next, and when all of them last were. One row.';
comment on column reconciliation.is_only is 'Always true: a second row would repeat the key.';
comment on column reconciliation.due_at is 'The worker that begins moves it ahead, so that only one compares.';
comment on column reconciliation.done_at is 'When all invariants were last compared; at first, when the database was made.';
insert into reconciliation default values;

create table violation (
  invariant text not null,
  subject text not null,
  difference text not null,
  found_at timestamptz not null default now(),
  primary key (invariant, subject)
);
comment on table violation is
  'What did not agree when it was last compared. The next run compares it again, and deletes the row if it agrees.';
comment on column violation.invariant is 'The name of the file in src/db/invariants. docs/operations.md says what to do about each.';
comment on column violation.subject is 'The id of the payment; of what concerns no payment, what it is about.';
comment on column violation.difference is 'What differs, with amounts and ids, for operators.';
