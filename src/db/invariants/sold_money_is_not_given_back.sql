-- A partner is asked to give back the money of an order only if it is not sold, or if its payout is void.
-- To do: The merchant may be paid, and the buyer too. Void the payout (`pinrail settlement void`), and ask the partner to stop the refund.
select m.id as subject, format('the partner is asked to give back %s, which sale %s has sold; the payout is %s', a.id,
  s.number, m.payout) as difference
from payment m join sale s on s.payment_id = m.id and s.number = m.taken_sale join attempt a on a.id = s.attempt_id
where m.id = any($1) and m.payout <> 'void' and a.back = 'asked'
