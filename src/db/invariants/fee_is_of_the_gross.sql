-- The gross amount is that of the sale that was taken, the fee is the payment's percentage of it, and the net amount is the rest.
-- To do: Hold the payment before its payout is signed. The merchant must get the net amount of the sale.
select m.id as subject, format('gross %s, fee %s (%s %%), net %s of a sale of %s', m.gross_micro, m.fee_micro, m.fee_percent, m.net_micro, s.gross_micro) as difference
from payment m left join sale s on s.payment_id = m.id and s.number = m.taken_sale
where m.id = any($1)
  -- As src/domain/money.ts: floor(gross × percent / 100).
  and (m.gross_micro, m.fee_micro, m.net_micro) is distinct from
    (s.gross_micro, div(s.gross_micro * m.fee_percent, 100), s.gross_micro - div(s.gross_micro * m.fee_percent, 100))
