-- Up Migration

-- A payout that is to be voided, and that another treasury has paid, is never voided: a person is told. The row goes when
-- the payout is voiding no more.
alter table settlement_finding drop constraint settlement_finding_kind_check,
  add constraint settlement_finding_kind_check check (kind in ('used_without_log', 'paid_elsewhere'));
