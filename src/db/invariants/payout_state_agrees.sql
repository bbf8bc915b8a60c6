-- The state of a payment matches the state of its payout.
-- To do: The settlement could not update the payment. See `pinrail settlement status`: a payout with a hook error is tried again every half minute.
select m.id as subject, format('the payment has its payout as %s, and the payout is %s', m.payout,
  coalesce(concat_ws(': ', p.state, p.stop_reason), 'not there')) as difference
from payment m left join payout p on p.owner_id = m.id
where m.id = any($1) and not case m.payout
    when 'handed' then coalesce(p.state in ('queued', 'authorized', 'assigned', 'mined')
      or p.stop_reason in ('funds', 'limit', 'operator'), false)
    when 'stopped' then coalesce(p.state = 'stopped', false)
    when 'voiding' then coalesce(p.state = 'voiding', false)
    when 'void' then coalesce(p.state = 'voided', true)
    when 'paid' then coalesce(p.state in ('settled', 'voided'), false)
    else true
  end
  -- The chain has paid, or paid no more, what a restored backup or a reversal of finality has made open again.
  and not exists (select from treasury_log where nonce_of = m.id and kind = 'out')
  and not exists (select from finality_reversal where owner_id = m.id)
