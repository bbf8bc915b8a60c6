-- Up Migration

-- A fill of the converter that is too far off the locked rate: kept, because the converter answers the same order with
-- the same fill. fill_expected_micro is what the locked rate gave when the fill was set aside; an operator accepts the
-- fill for that amount only.
alter table payment
  add column fill_micro units,
  add column fill_expected_micro units,
  add column fill_reference text,
  add column fill_accepted boolean not null default false;
alter table payment add constraint payment_fill_is_whole
  check (num_nulls(fill_micro, fill_expected_micro, fill_reference) in (0, 3)
    and (fill_micro is not null or not fill_accepted));
