-- A payment that is not handed over has no payout that can be paid: none, or one that is stopped.
-- To do: Void the payout (`pinrail settlement void`) before anything else: nobody has decided that it is to be paid.
select m.id as subject, format('the payment is %s, and a payout of %s is %s', m.status, readable_amount(p.micro_usdc, 'USDC'),
  p.state) as difference
from payment m join payout p on p.owner_id = m.id
-- One that waited for an operator is handed over again. The engine itself pays payouts that are stopped for these two reasons.
where m.id = any($1) and m.payout = 'none' and (p.state <> 'stopped' or p.stop_reason in ('funds', 'limit'))
  -- The final chain has paid what a restored backup has forgotten: the payment gets it within seconds.
  and not (p.created_at > now() - interval '10 minutes' and exists (select from treasury_log where nonce_of = m.id))
