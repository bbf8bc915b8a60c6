-- A payment that is not closed has a clock, an unread callback, a partner, the settlement or a person who wakes it.
-- To do: Its workflow has nothing to wait for. Terminate it (`temporal workflow terminate`): the workers start one that continues from the row.
select m.id as subject, format('%s since %s, and nothing wakes it', m.status, m.updated_at) as difference
from payment m
where m.id = any($1) and m.closed_at is null and m.updated_at < now() - interval '1 hour'
  and not (m.status in ('created', 'pending') and m.expires_at > now() - interval '1 hour')
  and m.review_since is null and not m.held
  and not (m.payout in ('handed', 'stopped', 'voiding')
    and exists (select from payout p where p.owner_id = m.id and p.state not in ('settled', 'voided')))
  and not exists (select from sale s where s.payment_id = m.id and s.state = 'asked')
  and not exists (select from attempt a where a.payment_id = m.id
    -- An order with money that is not paid out is read at least every six hours.
    and (a.back <> 'no' or a.held > 0 and m.payout = 'none' or not m.listen_ended and a.status in ('opening', 'open', 'verification_required', 'confirming', 'on_hold')))
  and not exists (select from partner_callback e join attempt a on a.id = e.attempt_id where a.payment_id = m.id and e.applied_at is null)
