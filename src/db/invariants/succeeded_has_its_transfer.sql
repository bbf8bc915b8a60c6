-- A payment has succeeded if, and only if, a final transfer is stored that paid its wallet, and the payment names it.
-- To do: Look the transaction up on the chain. If it paid, the log must be read again: `pinrail settlement rebuild`. If not, the merchant has a success without its money: pay it.
select m.id as subject, format('%s, payout %s, paid %s in %s:%s; the log has %s to %s in %s:%s', m.status, m.payout, m.paid_micro,
  m.tx_hash, m.log_index, l.micro_usdc, l.counterparty, l.tx_hash, l.log_index) as difference
from payment m left join treasury_log l on l.owner_id = m.id and l.kind = 'out'
where m.id = any($1) and (m.status = 'succeeded' or m.payout = 'paid' or m.tx_hash is not null)
  and (m.status, m.payout, m.tx_hash, m.log_index, m.paid_micro, lower(m.destination)) is distinct from
    ('succeeded', 'paid', l.tx_hash::text, l.log_index, l.micro_usdc, l.counterparty::text)
  -- Its final block has left the chain, and its payout is on its way again.
  and not (l.owner_id is null and exists (select from finality_reversal r join payout p using (owner_id)
    where p.owner_id = m.id and p.state not in ('settled', 'voided')))
