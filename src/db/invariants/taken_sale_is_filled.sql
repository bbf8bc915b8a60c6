-- The sale that is paid out is filled, and is of the order whose money the payment has.
-- To do: Hold the payment. Ask the converter whether it has bought anything for it.
select m.id as subject, format('sale %s is %s, of %s; the money is of %s', m.taken_sale, coalesce(s.state, 'not there'),
  coalesce(s.attempt_id, 'no order'), coalesce(m.paid_attempt_id, 'no order')) as difference
from payment m left join sale s on s.payment_id = m.id and s.number = m.taken_sale
where m.id = any($1) and m.taken_sale is not null
  and (s.state, s.attempt_id) is distinct from ('filled', m.paid_attempt_id)
