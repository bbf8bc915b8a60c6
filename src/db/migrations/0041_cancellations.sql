-- Up Migration

-- The cancellation of a partner's order is stored before the partner is asked, like a refund. It says nothing about money
-- that has come, so it does not keep that from moving on.
alter table intent drop constraint intent_kind_check;
alter table intent add constraint intent_kind_check check (kind in ('refund', 'void', 'cancel'));

create or replace function money_is_free(p payment) returns boolean language sql stable as $$
  select not p.held and p.paid_attempt_id is not null and p.confirmed_minor is not null
    and not exists (
      select 1 from intent i where i.payment_id = p.id and i.state in ('asked', 'pending') and i.kind <> 'cancel'
        and (i.attempt_id is null or i.attempt_id = p.paid_attempt_id))
    and p.confirmed_minor = (
      select coalesce(sum(m.charge_minor), 0) from part m
      where m.payment_id = p.id and m.attempt_id = p.paid_attempt_id and m.state = 'counted')
$$;

-- USDC that is worth less than the smallest unit of the price, when its payment is over: ours.
alter table part drop constraint part_kind_check;
alter table part add constraint part_kind_check
  check (kind in ('receipt', 'reversal', 'return', 'return_outside', 'kept'));
