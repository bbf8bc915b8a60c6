-- The end of a payment was announced.
-- To do: The merchant does not know how the payment ended. Send it what `GET /v1/payments/{id}` says.
select m.id as subject, format('no event payment.%s', m.status) as difference
from payment m
-- Events are kept for 90 days.
where m.id = any($1) and m.created_at > now() - interval '60 days'
  and m.status in ('succeeded', 'failed', 'expired', 'canceled', 'refunded')
  and not exists (select from event where payment_id = m.id and type = 'payment.' || m.status)
