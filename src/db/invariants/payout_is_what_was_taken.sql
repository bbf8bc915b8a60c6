-- A payout is the gross amount of the sale that was taken, less the fee, the reserve and the deduction for a refund, to the wallet of the payment.
-- To do: If it is not signed, hold the payment, void its payout (`pinrail settlement void`) and give the money back. If it is paid, claim the difference.
select m.id as subject, format('the payout is %s to %s, and %s to %s is due', readable_amount(p.micro_usdc, 'USDC'),
  p.recipient, readable_amount(payout_micro(s.gross_micro - m.fee_micro, m.reserve_percent, m.deducted_micro), 'USDC'), m.destination) as difference
from payment m join payout p on p.owner_id = m.id
  left join sale s on s.payment_id = m.id and s.number = m.taken_sale
where m.id = any($1) and m.payout in ('handed', 'stopped', 'voiding', 'paid')
  and (p.micro_usdc, p.recipient::text, p.chain_id, p.token::text)
    is distinct from (payout_micro(s.gross_micro - m.fee_micro, m.reserve_percent, m.deducted_micro), lower(m.destination), m.chain_id, lower(m.token))
  -- A restored backup may have forgotten the payout, and then its amount is the quote's or the chain's: a person is asked.
  and not (s.number is null and m.payout = 'voiding')
  and not (m.payout = 'paid' and m.paid_micro = p.micro_usdc
    and (m.agreed is not distinct from 'payout:' || m.paid_micro or m.reviews @> '[{"reason": "unexpected_payout"}]'))
