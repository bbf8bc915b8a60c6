-- A payout is settled if, and only if, a final transfer of its treasury with its nonce, amount and recipient is stored.
-- To do: A restored backup may lack the log: `pinrail settlement rebuild` reads it again. Without a transfer on the chain the payout was never made.
select p.owner_id as subject, format('the payout is %s: %s to %s; the log has %s to %s in %s:%s', p.state, p.micro_usdc,
  p.recipient, l.micro_usdc, l.counterparty, l.tx_hash, l.log_index) as difference
from payout p left join treasury_log l on l.owner_id = p.owner_id and l.kind = 'out'
where p.owner_id = any($1) and (p.state = 'settled' or l.owner_id is not null)
  and (p.state not in ('settled', 'voided')
    or (p.treasury, p.auth_nonce, p.micro_usdc, p.recipient) is distinct from (l.treasury, l.auth_nonce, l.micro_usdc, l.counterparty))
