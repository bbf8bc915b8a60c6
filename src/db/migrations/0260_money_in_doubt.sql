-- Up Migration

-- What the partner said last of the order of this money does not fit, and not even that all of the money is there: nothing
-- is sold or paid out until somebody has dealt with it. The domain's `isInDoubt` says the same.
create or replace function money_is_free(p payment) returns boolean language sql stable as $$
  select not p.held and p.paid_attempt_id is not null and p.confirmed_minor is not null
    and not exists (
      select 1 from intent i where i.payment_id = p.id and i.state in ('asked', 'pending') and i.kind <> 'cancel'
        and (i.attempt_id is null or i.attempt_id = p.paid_attempt_id))
    and p.confirmed_minor = (
      select coalesce(sum(m.charge_minor), 0) from part m
      where m.payment_id = p.id and m.attempt_id = p.paid_attempt_id and m.state = 'counted')
    and not exists (
      select 1 from incident n where n.payment_id = p.id and n.kind = 'misfit' and n.closed_at is null
        and n.attempt_id = p.paid_attempt_id and n.misfit is not null
        and not (n.misfit ->> 'why' = 'amount' and n.misfit ->> 'status' = 'paid'
          and coalesce((n.misfit #>> '{received,minor}')::numeric, 0) >= p.confirmed_minor))
$$;
